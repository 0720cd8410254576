"""Declares the choices of a project, for configuration, templates and documentation."""
