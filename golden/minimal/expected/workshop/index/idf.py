"""Inverse document frequency, the rarity of a term in BM25 (as in Lucene)."""

import math


def idf(frequency: int, count: int) -> float:
    """Return ln(1 + (count - frequency + 0.5) / (frequency + 0.5)).

    `frequency` is how many of the `count` chunks contain the term.
    """
    return math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))
