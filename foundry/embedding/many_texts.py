"""Embeds many texts with a table of word pieces; results are identical to `PieceEncoder.encode`.

With single texts, most of the time is spent calling numpy, so many texts are processed together.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from foundry.runtime.retrieval.encoder import COUNT_UNIT, LARGEST, PieceEncoder, Word

BATCH_TEXTS = 64
"""Texts embedded at a time: the rows of their pieces, as float64, take some 10 MB."""

_ROWS, _LETTERS, _COVERED_LETTERS, _DIGITS, _COVERED_DIGITS = map(itemgetter, range(5))


@dataclass(frozen=True, slots=True)
class EncodedTexts:
    """Unit vectors float32 (n, d) of texts; zero rows if pieces cover too little of a text.

    `pieces` uint32 are the distinct rows of the table in each text, ascending; the rows of a text
    begin at its entry in `offsets` (n + 1,).
    """

    vectors: NDArray[np.float32]
    offsets: NDArray[np.int64]
    pieces: NDArray[np.uint32]


def encode_all(encoder: PieceEncoder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the unit vectors (n, d) of texts; zero rows for those that cannot be embedded."""
    return encode_texts(encoder, texts).vectors


def encode_texts(encoder: PieceEncoder, texts: Sequence[str]) -> EncodedTexts:
    """Return the vectors of texts, and the pieces in each."""
    cut = encoder.pieces.cut
    starts = range(0, max(len(texts), 1), BATCH_TEXTS)
    batches = (texts[start : start + BATCH_TEXTS] for start in starts)
    parts = [_encode(encoder, [*map(cut, batch)]) for batch in batches]
    if len(parts) == 1:
        return parts[0]
    counts = [np.zeros(1, dtype=np.int64), *(np.diff(part.offsets) for part in parts)]
    return EncodedTexts(
        np.concatenate([part.vectors for part in parts]),
        np.cumsum(np.concatenate(counts)),
        np.concatenate([part.pieces for part in parts]),
    )


def _encode(encoder: PieceEncoder, texts: Sequence[Sequence[Word]]) -> EncodedTexts:
    found = [[*chain.from_iterable(map(_ROWS, words))] for words in texts]
    lengths = [*map(len, found)]
    rows = np.fromiter(chain.from_iterable(found), dtype=np.int64, count=sum(lengths))
    # Text and piece are combined into one number, so that all pairs are counted together.
    pieces_of_table = len(encoder.weights)
    starts = np.arange(len(texts) + 1) * pieces_of_table
    keys, counts = np.unique(np.repeat(starts[:-1], lengths) + rows, return_counts=True)
    pieces, offsets = keys % pieces_of_table, np.searchsorted(keys, starts)
    factors = encoder.weights[pieces] * np.rint(np.sqrt(counts.astype(np.float64)) * COUNT_UNIT)
    table = encoder.table.take(pieces, axis=0).astype(np.float64)
    totals = np.zeros((len(texts), encoder.description.dimensions))
    for total, words, (start, end) in zip(totals, texts, pairwise(offsets.tolist()), strict=True):
        if end > start and _is_covered(words, encoder.description.minimum_coverage):
            np.matmul(factors[start:end], table[start:end], out=total)
    vectors = _units(totals, encoder.description.common)
    return EncodedTexts(vectors, offsets, pieces.astype(np.uint32))


def _is_covered(words: Sequence[Word], minimum: float) -> bool:
    """Return whether pieces cover enough of a text for a meaningful vector."""
    whole, covered = sum(map(_LETTERS, words)), sum(map(_COVERED_LETTERS, words))
    if not whole:
        whole, covered = sum(map(_DIGITS, words)), sum(map(_COVERED_DIGITS, words))
    return bool(0 < covered >= minimum * whole)


def _units(totals: NDArray[np.float64], common: float) -> NDArray[np.float32]:
    """Scale integer rows (n, d) to unit length; for `common`, see `EncoderDescription`."""
    largest = np.abs(totals).max(axis=1, initial=0)
    whole = np.rint(totals / np.where(largest > 0, largest, 1)[:, np.newaxis] * LARGEST)
    dimensions = totals.shape[1]
    if common:
        whole = np.rint(whole - (whole.sum(axis=1) / dimensions)[:, np.newaxis])
    lengths = np.sqrt(np.square(whole).sum(axis=1))
    present = lengths > 0
    own = whole[present] / lengths[present, np.newaxis] * math.sqrt(1 - common)
    vectors = np.zeros(totals.shape, dtype=np.float32)
    vectors[present] = own + math.sqrt(common / dimensions)
    return vectors
