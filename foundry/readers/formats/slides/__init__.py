"""Reads PowerPoint slides."""
