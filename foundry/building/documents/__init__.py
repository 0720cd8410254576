"""Prepares documents one by one: in worker processes, and only if something has changed.

programs    hashes of the code and libraries that prepare documents, by reader
recipe      the options for preparing documents, and the cache keys
preparer    prepares one document: reads, splits, counts terms, embeds with the built-in table
encoding    encodes a prepared document as bytes
answers     validates the bytes that workers return
workers     runs preparers in worker processes, several at a time
signature   hashes of a document's text and blocks, for comparing documents
cache       prepared documents by source and key, kept from build to build
lines       hashes of the lines of tables whose documents are in the cache
unchanged   decides, without opening a document, whether there is nothing to do
inputs      all documents of a build, each from the cache or newly prepared
"""
