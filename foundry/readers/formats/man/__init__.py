"""Reads manual pages."""
