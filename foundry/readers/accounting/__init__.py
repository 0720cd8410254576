"""Accounts for words: each word of a document is in its text, or left out for a reason.

Other words are unaccounted: a reader has lost them.
"""
