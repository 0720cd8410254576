"""Run a project's server here, as an export would be: for `query`, `eval`, `serve` and `verify`."""
