"""Exact heading matches: a query that says what a title or a heading says.

Someone who types `Aboleth` or `What are the safety requirements?` where a section bears that very
name wants that section, however often other passages repeat the words.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .arrays import KeyTable
from .candidates import Candidates
from .layout import hash_key
from .tokens import Token, heading_key

BOOST = 0.5
"""How far an exact match moves a score towards 1."""

MAX_MATCHES = 50
"""A heading that more chunks bear (`Overview`, `Syntax`) singles nothing out."""


class HeadingTable:
    """Finds chunks by the title of their document or by their own heading."""

    def __init__(self, table: NDArray[np.uint64]) -> None:
        self._table = KeyTable(table)

    def find(
        self, tokens: Sequence[Token], allowed: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """The chunks (m,), ascending, whose title or heading says what the query says."""
        key = heading_key(tokens)
        chunks = np.array(self._table.find(hash_key(key)) if key else [], dtype=np.int64)
        if allowed is not None:
            chunks = chunks[allowed[chunks]]
        return chunks if len(chunks) <= MAX_MATCHES else np.empty(0, dtype=np.int64)


def boost_headings(candidates: Candidates, matches: NDArray[np.int64]) -> Candidates:
    """Move the scores of exact matches half of the way to 1: s + 0.5 * (1 - s)."""
    if not len(matches):
        return candidates
    matched = np.isin(candidates.chunks, matches)
    raised = candidates.scores + BOOST * (1.0 - candidates.scores)
    return candidates.boosted("heading", np.where(matched, raised, candidates.scores))
