"""Accounts for words: each word of a document is in its text, or left out for a reason.

The remaining words are unaccounted for: a reader has lost them.
"""
