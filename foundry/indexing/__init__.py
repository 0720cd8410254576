"""Writes an index; what reads it is `foundry.runtime.index.reader`."""
