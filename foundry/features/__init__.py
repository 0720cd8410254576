"""Declares what a project may choose; configuration, templates and documentation read it."""
