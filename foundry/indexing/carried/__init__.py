"""Data that a build takes over from the previous one, and leaves for the next.

An index does not contain everything that the next build needs: term counts of chunks, addresses of
links, and the input of each document. These are kept in a folder beside the index. Code that writes
a part of an index asks a `Carried` for tables and arrays by name; it does not see whether rows are
new or copied from the previous index.
"""
