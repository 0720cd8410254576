"""From raw documents to prepared ones: in worker processes, and only where something has changed.

recipe        what beside a document decides what it is prepared to
preparer      one document: read, split, its terms counted, embedded by the built-in table
wire          a prepared document as bytes, and the checks of bytes that come back
task, pool    the same in worker processes, several at a time
cache         what was prepared, by source and key, from build to build
survey        whether anything has changed at all, without opening a document
inputs        all documents of a build, each taken from the cache or prepared
"""
