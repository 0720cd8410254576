"""reStructuredText: as docutils parses it, with the directives and roles of Sphinx."""
