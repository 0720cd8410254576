"""Builds on many machines: Ray tasks do what worker processes do on one machine.

cluster     joins or starts a Ray cluster; the only module that uses Ray's interface
tasks       the functions that run on the nodes
documents   prepares documents in batches, as many at a time as fit into memory
embedding   runs a model of this machine on the nodes

The build itself reads the sources and keeps the caches. Documents and models reach the nodes
through Ray, so no shared file system is needed. If a node dies, another repeats its work.
"""
