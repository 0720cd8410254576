"""Accounts for the words of documents: each should be in the text, or left out for a reason.

Any other word is unaccounted for: a reader has lost it.
"""
