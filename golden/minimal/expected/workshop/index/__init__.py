"""The files of an index: layout, readers, and the current version that a process serves."""
