"""The code that ships: every module here is copied, byte for byte, into exported servers.

Nothing in this package imports `foundry`; imports within it are relative, and what it needs
beyond the standard library is listed in the exported project's dependencies.
"""
