"""A transformer in numpy: model folder, tokenizer, and worker processes."""
