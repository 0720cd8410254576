"""foundry.toml: validated and resolved."""
