"""Quantises vectors to int8, for the index, engines and stages."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class QuantisedVector(NamedTuple):
    """Integers (d,), and the scale that makes them a unit vector."""

    integers: NDArray[np.int8]
    scale: float


def quantise_one(vector: NDArray[np.float32]) -> QuantisedVector:
    """Quantise a vector (d,) as `quantise` does."""
    rows, scales = quantise(vector[np.newaxis, :])
    return QuantisedVector(rows[0], float(scales[0]))


def quantise(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Quantise vectors (n, d) to int8 rows (n, d) and scales (n,) that make them unit vectors.

    A zero vector becomes a zero row with scale 0.
    """
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    safe = np.where(largest > 0, largest, 1).astype(np.float32)
    rows = np.rint(vectors / safe[:, np.newaxis] * np.float32(127)).astype(np.int8)
    squares = (rows.astype(np.int64) ** 2).sum(axis=1)
    scales = np.zeros(len(rows), dtype=np.float32)
    present = squares > 0
    scales[present] = 1.0 / np.sqrt(squares[present].astype(np.float64))
    return rows, scales
