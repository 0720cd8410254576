"""Decide what depends on several documents: copies, boilerplate, and what goes into the index.

Decided when all documents are known, in an order that depends on the sources alone, so equal
sources give equal indexes.
"""
