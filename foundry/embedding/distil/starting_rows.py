"""Initial rows for training: the rows of the built-in encoder, mapped into a model's space."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from foundry.embedding.distil.distill import (
    Matrix,
    count_pieces,
    inverse_frequency_weights,
    unit_rows,
)
from foundry.files import MODEL_FOLDER
from foundry.runtime.retrieval.encoder import CONTINUATION, MAX_WEIGHT, EncoderLayout

RIDGE = 1.0
STARTING_LENGTH = 0.5
"""Median length of rows, which sets the scale for Adam's steps."""

LEAST_GENERAL_SHARE = 0.5
"""If general pieces have a smaller share of a corpus, unused ones start as zeros."""


def starting_rows(
    general: Sequence[str], own: Sequence[str], counts: "sparse.csr_matrix", targets: Matrix
) -> Matrix:
    """Return float32 (V, d): initial rows for `general` and `own` pieces.

    A general piece gets the built-in encoder's row, mapped linearly so that this encoder's vectors
    of the texts come as close as possible to the targets. An own piece gets the sum of the rows of
    the general pieces in it. If there are none, as in another script, it gets the direction of the
    mean target of the texts with this piece, minus the mean of all targets, at a length that grows
    with the piece's rarity. If most pieces in the texts are own pieces, general pieces that do not
    occur become zero, since nothing is known about them.

    `counts` float32 (n, V) are the pieces of the texts, `targets` (n, d) the model's unit vectors.
    """
    table = np.load(EncoderLayout(MODEL_FOLDER).table, allow_pickle=False)
    weights = np.load(EncoderLayout(MODEL_FOLDER).weights, allow_pickle=False)
    factors = (weights / MAX_WEIGHT).astype(np.float32)[:, None]
    inside = count_pieces([piece.removeprefix(CONTINUATION) for piece in own], general)
    known = table.astype(np.float32) * factors
    sources = unit_rows(counts @ np.concatenate([known, inside @ known]))
    mapped = apply_linear_map(table, fit_linear_map(sources, targets, RIDGE)) * factors
    rows = np.concatenate([mapped, inside @ mapped])
    lengths = np.linalg.norm(rows, axis=1)
    rows *= STARTING_LENGTH / max(float(np.median(lengths)), 1e-30)

    unknown = np.flatnonzero(lengths == 0)
    rows[unknown] = STARTING_LENGTH * _mean_targets(counts, targets, unknown)
    occurrences = np.asarray(counts.sum(axis=0)).ravel()
    if occurrences[: len(general)].sum() < LEAST_GENERAL_SHARE * occurrences.sum():
        rows[: len(general)][occurrences[: len(general)] == 0] = 0
    return np.asarray(rows, dtype=np.float32)


def _mean_targets(counts: "sparse.csr_matrix", targets: Matrix, pieces: NDArray[np.intp]) -> Matrix:
    """Return a row (p, d) for each of the `pieces` (p,).

    It has the direction of the mean target of the texts with this piece, minus the mean of all
    targets; its length is the piece's rarity.
    """
    sizes = np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1).astype(np.float32)
    shares = (sparse.diags(1 / sizes) @ counts).tocsc()[:, pieces]
    others = targets - targets.mean(axis=0) if len(targets) else targets
    rarity = inverse_frequency_weights(counts)[pieces]
    return unit_rows(np.asarray(shares.T @ others, dtype=np.float32)) * rarity[:, None]


COMPONENT_UNIT = 2.0**14
"""Components are rounded to multiples of its inverse, so that sums of 2**25 products are exact."""

COEFFICIENT_BITS = 2.0**30
ROWS_AT_ONCE = 4096


def fit_linear_map(sources: Matrix, targets: Matrix, ridge: float) -> NDArray[np.float64]:
    """Return the matrix (s, d) that maps `sources` (n, s) as close as possible to `targets` (n, d).

    The squared distance is minimised (ridge regression); rows must not be longer than 1. `ridge`
    keeps the matrix small if there are few texts.
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
    """Return X (s, d) for matrix (s, s) @ X = right (s, d), by Gauss-Jordan elimination.

    The matrix must be symmetric and positive definite, so no pivoting is needed.
    """
    both = np.concatenate([matrix, right], axis=1)
    for column in range(len(matrix)):
        both[column] /= both[column, column]
        factors = both[:, column].copy()
        factors[column] = 0
        both[:, column:] -= factors[:, None] * both[column, column:]
    return both[:, len(matrix) :]


def apply_linear_map(table: NDArray[np.int8], coefficients: NDArray[np.float64]) -> Matrix:
    """Return float32 (V, d): integer rows (V, s) times `coefficients` rounded to 30 bits."""
    largest = max(float(np.abs(coefficients).max(initial=0)), 1e-30)
    whole = np.rint(coefficients / largest * COEFFICIENT_BITS)
    mapped = np.empty((len(table), whole.shape[1]), dtype=np.float32)
    for start in range(0, len(table), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        mapped[part] = table[part].astype(np.float64) @ whole / COEFFICIENT_BITS * largest
    return mapped
