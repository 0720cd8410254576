"""The accounting of words: each word of a document is in its text, or left out for a reason.

What is neither is unaccounted: words that a reader has lost.
"""
