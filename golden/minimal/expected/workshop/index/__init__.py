"""The files of an index: their layout, reading them, and serving the one published last."""
