"""A build, from the sources to a published index."""
