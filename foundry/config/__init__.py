"""foundry.toml: what users write, checked and resolved."""
