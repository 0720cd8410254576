"""Renders the files of a server from a configuration and an index."""
