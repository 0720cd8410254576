"""Evaluation: questions, intervals, limits, tuning, report. The runtime has the metrics."""
