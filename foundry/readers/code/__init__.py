"""Source code, with definitions as its outline."""
