"""Decisions that depend on several documents: copies, boilerplate, and which documents are indexed.

The decisions are made once all documents are known, in the order of the sources, so that equal
sources give equal indexes.
"""
