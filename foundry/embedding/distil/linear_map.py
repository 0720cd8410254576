"""Ridge regression from one embedding space into another, the same to the last bit everywhere.

(Hoerl and Kennard 1970.) BLAS and LAPACK add in an order that depends on the processor. So moments
and products are taken over whole numbers, whose float64 sums are exact in any order as long as they
stay below 2**53, and the equations are solved by elimination in elementwise steps.
"""

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

COMPONENT_UNIT = 2.0**14
"""The fixed point of a unit vector's component: n products of two stay below 2**53 to n = 2**25."""

COEFFICIENT_BITS = 2.0**30
ROWS_AT_ONCE = 4096


def fit_linear_map(sources: Matrix, targets: Matrix, ridge: float) -> NDArray[np.float64]:
    """Return the matrix (s, d) by which `sources` come nearest to `targets` in squared distance.

    Args:
        sources: float32 (n, s), of length at most 1.
        targets: float32 (n, d), of length at most 1.
        ridge: Added to the moments, which keeps the map small where there are few texts.
    """
    size = sources.shape[1]
    moments = np.zeros((size, size + targets.shape[1]))
    for start in range(0, len(sources), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        both = np.concatenate([sources[part], targets[part]], axis=1)
        whole = np.rint(both * COMPONENT_UNIT).astype(np.float64)
        moments += whole[:, :size].T @ whole
    moments /= COMPONENT_UNIT**2
    return solve(moments[:, :size] + ridge * np.eye(size), moments[:, size:])


def solve(matrix: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the X (s, d) of matrix (s, s) @ X = right (s, d), by Gauss and Jordan's elimination.

    The matrix must be symmetric and positive definite, which makes pivoting needless.
    """
    both = np.concatenate([matrix, right], axis=1)
    for column in range(len(matrix)):
        both[column] /= both[column, column]
        factors = both[:, column].copy()
        factors[column] = 0
        both[:, column:] -= factors[:, None] * both[column, column:]
    return both[:, len(matrix) :]


def apply_linear_map(table: NDArray[np.int8], coefficients: NDArray[np.float64]) -> Matrix:
    """float32 (V, d): integer rows (V, s) times `coefficients` (s, d), rounded to 30 bits."""
    largest = max(float(np.abs(coefficients).max(initial=0)), 1e-30)
    whole = np.rint(coefficients / largest * COEFFICIENT_BITS)
    mapped = np.empty((len(table), whole.shape[1]), dtype=np.float32)
    for start in range(0, len(table), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        mapped[part] = table[part].astype(np.float64) @ whole / COEFFICIENT_BITS * largest
    return mapped
