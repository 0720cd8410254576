"""Runs a project's server on this machine: for `query`, `eval`, `serve` and `verify`."""
