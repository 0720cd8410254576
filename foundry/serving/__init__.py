"""Runs a project's server here, like an export: for `query`, `eval`, `serve` and `verify`."""
