"""The client of a language model: calls, streamed events, and replies."""
