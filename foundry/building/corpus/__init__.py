"""Decides what depends on several documents: copies, boilerplate, and what is indexed.

Decisions are made once all documents are known, in the order of the sources, so equal sources give
equal indexes.
"""
