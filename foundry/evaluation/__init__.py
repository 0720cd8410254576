"""Evaluation: questions, intervals, limits, tuning, the report. The runtime judges."""
