"""The client of a language model: its calls, the events of a stream, and the replies in them."""
