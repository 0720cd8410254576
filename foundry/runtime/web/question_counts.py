"""Counts the lines of the question log for `/metrics`."""

from .observing import counter

QUESTIONS = counter("questions", "Lines for the question log: kept, or lost.", "result")


def count_question(result: str) -> None:
    """Count a line of the question log: `kept`, or `lost` because it could not be written."""
    QUESTIONS(result).inc()
