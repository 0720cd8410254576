"""The language model that answers in the chat, or reads queries."""
