"""The HTTP application: its endpoints, the checks before them, and how it is served."""
