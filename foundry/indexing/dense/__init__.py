"""Writes the dense lane: vectors, their sketch, and its calibration."""
