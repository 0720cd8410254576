"""How near an index is to questions that it does not answer."""

import numpy as np
from numpy.typing import NDArray

DEFAULT_BACKGROUND, MAX_BACKGROUND = 0.5, 0.9

BACKGROUND_QUESTIONS = (
    "How long do I boil an egg?",
    "Who painted the ceiling of the Sistine Chapel?",
    "What causes a rainbow after the rain?",
    "How many players are there in a football team?",
    "Which planet has the largest moons?",
    "How do I get red wine out of a carpet?",
    "What is the capital of Mongolia?",
    "When did the Roman Empire fall?",
    "How does a violin make its sound?",
    "Why do cats purr when they are stroked?",
    "What is the best season to plant tulips?",
    "How high is the tallest mountain on earth?",
    "Who wrote the story of the ugly duckling?",
    "What should I eat before running a marathon?",
    "How do bees make honey from nectar?",
    "Which vaccines does a newborn child need?",
    "How is parmesan cheese aged?",
    "What are the rules of offside?",
    "How do I renew my passport before a holiday?",
    "Why is the sea salty and the river not?",
)
"""Everyday matters: few corpora answer more than one or two of them."""


def background_of(cosines: NDArray[np.float32]) -> float:
    """Return the median of the cosines (q,) of the nearest vectors to questions."""
    if not len(cosines):
        return DEFAULT_BACKGROUND
    # Two digits: the last ones of a matrix product differ between machines.
    median = float(np.median(cosines))
    return round(min(max(median, 0.0), MAX_BACKGROUND), 2)
