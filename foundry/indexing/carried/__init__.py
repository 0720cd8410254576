"""Data that a build takes from the previous one, and stores for the next.

An index does not contain everything that the next build needs: term counts of chunks, addresses of
links, and the input of each document. These are kept in a folder next to the index. Code that
writes a part of an index gets tables and arrays from a `Carried` by name, whether their rows are
new or copied from the previous index.
"""
