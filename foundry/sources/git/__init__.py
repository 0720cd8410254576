"""Reads git repositories."""
