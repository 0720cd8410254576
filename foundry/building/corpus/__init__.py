"""Decisions that depend on several documents: copies, boilerplate, and what is indexed.

These are made once all documents are known, in the order of the sources, so equal sources give
equal indexes.
"""
