"""Reads reStructuredText, parsed by docutils, with directives and roles of Sphinx."""
