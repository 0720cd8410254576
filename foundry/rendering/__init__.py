"""Turns a configuration and an index into the files of a server."""
