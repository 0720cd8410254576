"""What stands in the corpus more than once: copies of documents, and boilerplate inside them.

Both are decided when all documents are known, and in an order that depends on the sources alone,
so equal sources give equal indexes.
"""
