"""Source code, with its definitions as outline."""
