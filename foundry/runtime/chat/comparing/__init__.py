"""Compares sentences: what is denied, opposite, or a number of something else."""
