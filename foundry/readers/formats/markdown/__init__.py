"""Markdown: its blocks and links, and the dialects that sites are written in."""
