"""Finds the rows of a version that an engine lacks, without fetching all of its rows.

Rows fall into buckets by their keys. For each bucket, the engine returns the number of rows and the
exclusive or of their codes, which are hashes of the rows' content. Keys and codes are only fetched
for buckets that differ.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROWS_OF_BUCKET = 32
"""Target number of rows in a bucket."""

MOST_BITS = 16
"""Logarithm to base 2 of the maximum number of buckets."""


@dataclass(frozen=True, slots=True)
class Held:
    """Rows held by an engine (m,), int64 each: row numbers, keys and codes."""

    rows: NDArray[np.int64]
    keys: NDArray[np.int64]
    codes: NDArray[np.int64]

    @classmethod
    def of(cls, found: Sequence[tuple[int, int, int]]) -> "Held":
        """Return rows that are given as (row number, key, code)."""
        return cls(*np.array(found, dtype=np.int64).reshape(-1, 3).T)


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between an engine and a version.

    `missing` (k,) are chunks that the engine lacks, `surplus` (l,) rows that the version lacks.
    `shares_any` is whether they have any row in common.
    """

    missing: NDArray[np.int64]
    surplus: NDArray[np.int64]
    shares_any: bool


def bucket_shift(count: int) -> int:
    """Return how many bits to shift a key right to get its bucket, for `count` rows."""
    bits = min(MOST_BITS, max(0, (count // ROWS_OF_BUCKET).bit_length()))
    return 63 if bits == 0 else 64 - bits


def sum_buckets(
    keys: NDArray[np.int64], codes: NDArray[np.int64], shift: int
) -> list[tuple[int, int, int]]:
    """Return (bucket, number of rows, xor of their codes) for each bucket of rows (n,)."""
    buckets = keys >> np.int64(shift)
    order = np.argsort(buckets, kind="stable")
    named, starts, counts = np.unique(buckets[order], return_index=True, return_counts=True)
    sums = np.bitwise_xor.reduceat(codes[order], starts) if len(order) else codes
    return list(zip(named.tolist(), counts.tolist(), sums.tolist(), strict=True))


def find_difference(
    keys: NDArray[np.int64],
    codes: NDArray[np.int64],
    theirs: Sequence[tuple[int, int, int]],
    shift: int,
    fetch: Callable[[list[int]], Held],
) -> Difference:
    """Compare the rows of a version (n,) with an engine's buckets, in the form of `sum_buckets`.

    `fetch` returns the engine's rows in some buckets, and may return other rows too.
    """
    unlike = set(sum_buckets(keys, codes, shift)) ^ set(theirs)
    differing = sorted({number for number, _, _ in unlike})
    held = fetch(differing)
    buckets = keys >> np.int64(shift)
    chunks = np.flatnonzero(np.isin(buckets, np.array(differing, dtype=np.int64)))
    known: dict[tuple[int, int], int] = {}
    for row, pair in zip(
        held.rows.tolist(), zip(held.keys.tolist(), held.codes.tolist(), strict=True), strict=True
    ):
        known.setdefault(pair, row)
    wanted = list(zip(keys[chunks].tolist(), codes[chunks].tolist(), strict=True))
    is_missing = np.array([pair not in known for pair in wanted], dtype=np.bool_)
    kept = {known[pair] for pair in wanted if pair in known}
    surplus = np.array([row for row in held.rows.tolist() if row not in kept], dtype=np.int64)
    is_shared = bool(kept) or len(differing) < len(theirs)
    return Difference(chunks[is_missing], surplus, is_shared)
