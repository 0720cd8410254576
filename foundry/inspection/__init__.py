"""Shows the contents of an index, and the state of this machine."""
