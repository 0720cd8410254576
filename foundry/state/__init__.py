"""The state of a project: a folder that can be rebuilt, and is used only if we wrote it."""
