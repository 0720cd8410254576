"""A transformer that runs in numpy: its folder, its tokenizer, and processes that embed with it."""
