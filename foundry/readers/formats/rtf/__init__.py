"""Reads Rich Text Format."""
