"""Evaluation: questions, intervals, limits, tuning, report. The metrics are in the runtime."""
