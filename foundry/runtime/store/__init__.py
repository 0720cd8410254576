"""Search engines that store the lanes of an index."""
