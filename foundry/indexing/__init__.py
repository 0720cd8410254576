"""Writes an index for `foundry.runtime.index.reader`."""
