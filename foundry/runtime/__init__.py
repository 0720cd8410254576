"""The code that ships: every module here is copied byte for byte into exported servers.

Nothing in this package imports `foundry`, and imports within it are relative. The packages that it
needs are listed in the exported project's dependencies.
"""
