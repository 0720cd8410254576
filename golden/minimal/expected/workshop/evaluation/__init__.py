"""The questions of a server, and how well searches find the documents that answer them."""
