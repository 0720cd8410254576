"""Prepares documents one by one: in worker processes, and only if something has changed.

programs    hashes of the code and libraries that prepare documents, by reader
recipe      the options for preparing documents, and the cache keys
preparer    prepares one document: reads, splits, counts terms, embeds with the built-in table
encoding    encodes a prepared document as bytes, and validates bytes from workers
workers     runs preparers in worker processes, several at a time
cache       prepared documents by source and key, kept from build to build
unchanged   decides, without opening a document, that there is nothing to do
inputs      all documents of a build, each from the cache or newly prepared
"""
