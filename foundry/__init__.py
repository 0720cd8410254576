"""Foundry turns a folder of documents into a standalone retrieval server."""

__version__ = "0.1.0"
