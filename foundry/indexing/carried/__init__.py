"""What a build takes over from the one before, and what it leaves for the next.

An index does not hold all that its successor has to know: how often a term occurs in a chunk, what
a link asks for, which input gave which document. That is kept in a folder beside the index, never
in it. Whoever writes a part of an index asks a `Carried` for tables and arrays by name, and need
not know whether a document that it is given rows of is new or copied from the index before.
"""
