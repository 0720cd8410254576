"""Reading git repositories."""
