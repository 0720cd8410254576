"""Reads LaTeX."""
