"""Reads Markdown: its blocks and links, and the dialects of site generators."""
