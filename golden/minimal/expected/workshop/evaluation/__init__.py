"""The questions of a server: which documents answer them, and how well searches find those."""
