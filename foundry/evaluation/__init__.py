"""Evaluation: questions, intervals, limits, tuning, the report. Metrics are the runtime's own."""
