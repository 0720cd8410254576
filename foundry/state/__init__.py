"""The state of a project: the folder of what can be made again, which is ours or is not used."""
