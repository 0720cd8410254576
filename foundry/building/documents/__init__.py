"""Prepare documents one by one: in worker processes, and only where something has changed.

programs    the programs that decide how a document is prepared, of each reader apart
recipe      the options that do, and the keys under which results are kept
preparer    one document: read, split, its terms counted, embedded by the built-in table
encoding    a prepared document as bytes, and the checks of bytes that come back
workers     the same in worker processes, several at a time
cache       prepared documents by source and key, from build to build
unchanged   decides without opening a document that there is nothing to do
inputs      all documents of a build, each taken from the cache or prepared
"""
