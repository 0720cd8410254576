"""Weigh the pieces of queries by their rarity in a corpus."""

import math

import numpy as np
from numpy.typing import NDArray

POWER = 0.5
"""Of the inverse document frequency, scaled to at most 1."""


def rarity_factors(frequencies: NDArray[np.integer], texts: int) -> NDArray[np.float64]:
    """Factors (V,), above 0 and at most 1, of pieces that occur in that many (V,) of the texts.

    The inverse document frequency is that of the keyword lane.
    """
    largest = math.log(1 + 2 * (texts + 1))
    # Logarithms may differ in the last bit between machines; six digits do not.
    factors = {
        frequency: round(
            (math.log(1 + (texts - frequency + 0.5) / (frequency + 0.5)) / largest) ** POWER, 6
        )
        for frequency in np.unique(frequencies).tolist()
    }
    return np.array([factors[frequency] for frequency in frequencies.tolist()])
