"""Reads source code, with definitions as its outline."""
