"""The state of a project: a folder that can be rebuilt, and is only used if Foundry wrote it."""
