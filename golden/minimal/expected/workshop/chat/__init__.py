"""Answers to questions, with citations."""
