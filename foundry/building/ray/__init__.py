"""Builds on many machines: Ray runs, as tasks, what worker processes do on one.

cluster     a Ray cluster that is joined, or one started for a build; all that knows Ray's interface
tasks       what runs on the nodes
documents   prepared in batches, so many under way at a time as fit into memory
embedding   a model of this machine, run by the nodes

The build itself reads the sources and keeps the caches. Documents and models reach the nodes
through Ray, so nodes share no file system. If a node dies, another one does its work again.
"""
