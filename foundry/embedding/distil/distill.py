"""Trains a bag of word pieces to imitate a teacher's vectors of the same texts (distillation).

The student has one row per piece; a text's vector is the sum of its pieces' rows, normalised.
Knowledge distillation (Hinton, Vinyals and Dean 2015) into such a bag does not need a deep-learning
library: the texts are a sparse count matrix, and Adam (Kingma and Ba 2015) only updates the rows of
a batch.

The result is written as the integer files that `foundry.runtime.retrieval.encoder` reads. That
module also splits the texts into pieces, so that the student is trained on what the server
computes.

On x86-64, the same teacher vectors give the same bytes, whatever the processor's features: sums run
in a fixed order (scipy's sparse products and numpy's reductions along an axis; never BLAS, whose
order depends on the machine), and everything else is elementwise.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from foundry.runtime.retrieval.encoder import MAX_WEIGHT, PieceCutter

Matrix = NDArray[np.float32]

ADAM_FIRST = 0.9
ADAM_SECOND = 0.999
ADAM_EPSILON = 1e-8

ROWS_AT_ONCE = 4096
"""Rows processed at a time, to limit memory."""


@dataclass(frozen=True, slots=True)
class Options:
    """Training options.

    `batch` is the number of texts per step, `learning_rate` Adam's initial step size, which falls
    to zero along a half cosine. The share `held_out` of the texts decides when to stop: after
    `patience` epochs without a better cosine.
    """

    seed: int = 0
    epochs: int = 5
    batch: int = 256
    learning_rate: float = 2e-3
    held_out: float = 0.02
    patience: int = 1


@dataclass(frozen=True, slots=True)
class Epoch:
    """Progress: the mean cosine to the teacher on the held-out texts after `number` epochs."""

    number: int
    cosine: float


class Adam:
    """Adam that only updates the rows of a step; moments of other rows do not change.

    `rows`, float32 (V, d), are updated in place.
    """

    def __init__(self, rows: Matrix) -> None:
        self.rows = rows
        self.first, self.second = np.zeros_like(rows), np.zeros_like(rows)
        self._first_power = self._second_power = 1.0

    def step(self, touched: NDArray[np.intp], gradient: Matrix, learning_rate: float) -> None:
        """Update the `touched` rows (t,) by their `gradient` (t, d)."""
        self._first_power *= ADAM_FIRST
        self._second_power *= ADAM_SECOND
        first = ADAM_FIRST * self.first[touched] + (1 - ADAM_FIRST) * gradient
        second = ADAM_SECOND * self.second[touched] + (1 - ADAM_SECOND) * gradient**2
        self.first[touched], self.second[touched] = first, second
        first /= 1 - self._first_power
        second /= 1 - self._second_power
        self.rows[touched] -= learning_rate * first / (np.sqrt(second) + ADAM_EPSILON)


def count_pieces(
    texts: Sequence[str], pieces: Sequence[str], language: str = "none"
) -> "sparse.csr_matrix":
    """Return float32 (n, V): the square root of the count of each piece in each text."""
    cutter = PieceCutter(pieces, language)
    columns: list[int] = []
    offsets = [0]
    for text in texts:
        for word in cutter.cut(text):
            columns.extend(word.rows)
        offsets.append(len(columns))
    counts = sparse.csr_matrix(
        (np.ones(len(columns), dtype=np.float32), np.array(columns, dtype=np.int32), offsets),
        shape=(len(texts), len(pieces)),
    )
    counts.sum_duplicates()
    np.sqrt(counts.data, out=counts.data)
    return counts


def inverse_frequency_weights(counts: "sparse.csr_matrix", smoothing: float = 1e-3) -> Matrix:
    """Return a / (a + p) (V,) for pieces of relative frequency p (Arora, Liang and Ma 2017)."""
    occurrences = np.asarray(counts.sum(axis=0)).ravel()
    frequency = occurrences / max(1.0, float(occurrences.sum()))
    return (smoothing / (smoothing + frequency)).astype(np.float32)


def unit_rows(vectors: Matrix) -> Matrix:
    """Return the rows normalised to unit length; zero rows stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)


def train(
    counts: "sparse.csr_matrix",
    targets: Matrix,
    rows: Matrix,
    options: Options,
    repeats: NDArray[np.intp] | None = None,
    progress: Callable[[Epoch], object] | None = None,
    held_out: NDArray[np.intp] | None = None,
) -> Matrix:
    """Train `rows` (V, d) so that the summed rows of a text point in the direction of its target.

    The rows include the pieces' weights. `counts` float32 (n, V) are the pieces of texts that
    resemble future queries, `targets` (n, d) the teacher's unit vectors. Each epoch uses a text
    `repeats` (n,) times, or once by default. The texts with the numbers `held_out` (by default, a
    random share) only decide when to stop: the rows of the epoch with their best cosine are
    returned, or the untrained rows if no epoch was better.
    """
    generator = np.random.default_rng(options.seed)
    usable = np.flatnonzero(np.diff(counts.indptr))
    if held_out is None:
        shuffled = generator.permutation(usable)
        held_out_count = min(len(usable) // 2, max(1, round(len(usable) * options.held_out)))
        held_out, training = shuffled[:held_out_count], shuffled[held_out_count:]
    else:
        training = np.setdiff1d(usable, held_out)
    if repeats is not None:
        training = np.repeat(training, repeats[training])

    adam = Adam(np.array(rows, dtype=np.float32))
    best = Epoch(0, _agreement(counts[held_out], targets[held_out], adam.rows))
    best_rows = adam.rows.copy()
    steps, total_steps = 0, options.epochs * -(-len(training) // options.batch)
    for number in range(1, options.epochs + 1):
        order = generator.permutation(training)
        for start in range(0, len(order), options.batch):
            chosen = order[start : start + options.batch]
            # Six digits: further digits of a cosine may differ between machines.
            share = round(0.5 * (1 + math.cos(math.pi * steps / total_steps)), 6)
            touched, gradient = distillation_gradient(counts[chosen], targets[chosen], adam.rows)
            adam.step(touched, gradient, options.learning_rate * share)
            steps += 1
        epoch = Epoch(number, _agreement(counts[held_out], targets[held_out], adam.rows))
        if progress is not None:
            progress(epoch)
        if epoch.cosine > best.cosine:
            best, best_rows = epoch, adam.rows.copy()
        elif number - best.number >= options.patience:
            break
    return best_rows


def distillation_gradient(
    counts: "sparse.csr_matrix", targets: Matrix, rows: Matrix
) -> tuple[NDArray[np.intp], Matrix]:
    """Return the numbers (t,) of the rows in a batch, and the gradient (t, d) of its mean loss.

    The loss of a text is 1 - cosine.
    """
    touched, columns = np.unique(counts.indices, return_inverse=True)
    local = sparse.csr_matrix(
        (counts.data, columns, counts.indptr), shape=(counts.shape[0], len(touched))
    )
    sums = local @ rows[touched]
    lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
    units = sums / lengths
    slope = -targets / len(units)
    slope -= np.sum(slope * units, axis=1, keepdims=True) * units
    gradient = local.T @ (slope / lengths)
    return touched, np.asarray(gradient, dtype=np.float32)


def _agreement(counts: "sparse.csr_matrix", targets: Matrix, rows: Matrix) -> float:
    """Return the mean cosine between student vectors and targets."""
    return float(np.mean(np.sum(unit_rows(counts @ rows) * targets, axis=1)))


def quantise_rows(rows: Matrix) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
    """Quantise rows (V, d) to a table (V, d) and weights (V,).

    A row becomes integers in -127..127 times its own scale; the scale, as a fixed-point integer, is
    the piece's weight.
    """
    largest = np.maximum(rows.max(axis=1), -rows.min(axis=1)).astype(np.float64)
    weights = np.rint(largest / max(float(largest.max()), 1e-30) * MAX_WEIGHT).astype(np.int32)
    table = np.empty(rows.shape, dtype=np.int8)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        table[part] = np.rint(rows[part] / np.maximum(largest[part], 1e-30)[:, None] * 127)
    return table, weights
