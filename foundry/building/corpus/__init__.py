"""Decisions that depend on several documents: copies, boilerplate, and which documents are indexed.

These are made once all documents are known, in the order of the sources, so equal sources give
equal indexes.
"""
