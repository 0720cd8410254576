"""A server's questions, and metrics of how well searches find the documents that answer them."""
