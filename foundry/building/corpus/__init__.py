"""Decide what depends on several documents: copies, boilerplate, and what goes into the index.

It decides once all documents are known, in an order that depends on the sources alone, so that
equal sources give equal indexes.
"""
