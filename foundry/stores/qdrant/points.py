"""Rows as points of Qdrant: two vectors, and a payload for filters."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from qdrant_client import models

from foundry.runtime.index.heading_terms import HEADING_MARK, NAMED
from foundry.runtime.retrieval.filters import UNKNOWN_TIME
from foundry.runtime.retrieval.values import AFTER_ALL, encode_value
from foundry.runtime.store.qdrant.filters import MARKS, MODIFIED, PATHS, path_prefixes
from foundry.runtime.store.qdrant.rows import DENSE, KEY, SINCE, SPARSE, HeldVersion, row_id
from foundry.stores.content import batches
from foundry.stores.rows import Rows, mix

CODE = "code"
"""The payload key of a row's code, which publications use to compare rows."""

BATCH_POINTS = 256
"""Points per upsert."""

BLOCK_CHUNKS = 20_000
"""Chunks whose postings are gathered in one pass."""

VALUE_DIGITS = 9
"""Decimal places of BM25 weights; more than float32 can represent."""

_PATH = encode_value("path", "")
_SLOTS = 2**32


@dataclass(frozen=True)
class Points:
    """The points of a version; `reassigned` maps keys of terms to slots, as in its marker."""

    rows: Rows
    reassigned: Mapping[int, int]

    @classmethod
    def of(cls, rows: Rows, reassigned: Mapping[int, int]) -> "Points":
        """Assign slots to terms; terms in `reassigned` keep their slots if possible."""
        return cls(rows, assign_slots(rows.term_keys, reassigned))

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The 64-bit hash (n,) of each point: of its row, the mean length, and reassigned slots."""
        content = self.rows.content
        mean = np.array([content.mean_length]).view(np.uint64)
        codes = mix(self.rows.codes.view(np.uint64) + mean)
        for number in self._reassigned_terms:
            start, end = content.offsets[number : number + 2].tolist()
            codes[content.chunks[start:end]] += mix(self.slots[[number]].view(np.uint64))
        return mix(codes).view(np.int64)

    @cached_property
    def slots(self) -> NDArray[np.int64]:
        """The slot (v,) of each term: its index in sparse vectors."""
        keys, held = self.rows.term_keys, HeldVersion(0, dict(self.reassigned))
        slots = keys % _SLOTS
        for number in self._reassigned_terms:
            slots[number] = held.slot(int(keys[number]))
        return slots

    @cached_property
    def _reassigned_terms(self) -> list[int]:
        numbers: list[int] = np.flatnonzero(
            np.isin(self.rows.term_keys, np.array(list(self.reassigned), dtype=np.int64))
        ).tolist()
        return numbers

    def make(self, chosen: NDArray[np.int64], number: int) -> Iterator[list[models.PointStruct]]:
        """Yield batches of points for chunks (m,), ascending, that version `number` adds."""
        for block in batches(len(chosen), BLOCK_CHUNKS):
            chunks = chosen[block]
            terms, places, counts = self.rows.postings_of(chunks)
            order = np.argsort(places, kind="stable")
            ends = np.searchsorted(places[order], np.arange(len(chunks) + 1))
            values = self._values(terms, chunks[places], counts)[order].tolist()
            slots = self.slots[terms][order].tolist()
            for part in batches(len(chunks), BATCH_POINTS):
                points = []
                for place in range(part.start, part.stop):
                    own = slice(*ends[place : place + 2].tolist())
                    sparse = models.SparseVector(indices=slots[own], values=values[own])
                    points.append(self._point(int(chunks[place]), sparse, number))
                yield points

    def _values(
        self, terms: NDArray[np.int64], chunks: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the BM25 weights of term counts (k,), without the inverse document frequency.

        The weight of a heading term is its count divided by NAMED.
        """
        content = self.rows.content
        manifest = content.files.manifest
        relative = content.lengths[chunks] / content.mean_length
        values = counts / (manifest.k1 * (1 - manifest.b + manifest.b * relative) + counts)
        first, last = self._heading_terms
        is_heading = (first <= terms) & (terms < last)
        values[is_heading] = counts[is_heading] / NAMED
        rounded: NDArray[np.float64] = values.round(VALUE_DIGITS)
        return rounded

    @cached_property
    def _heading_terms(self) -> tuple[int, int]:
        vocabulary, mark = self.rows.content.vocabulary, HEADING_MARK.encode()
        return bisect_left(vocabulary, mark), bisect_left(vocabulary, mark + AFTER_ALL)

    def _point(self, chunk: int, sparse: models.SparseVector, number: int) -> models.PointStruct:
        content = self.rows.content
        vectors: dict[str, Any] = {}
        if sparse.indices:
            vectors[SPARSE] = sparse
        if content.scales[chunk] > 0:
            # The engine normalises vectors itself.
            vectors[DENSE] = content.vectors[chunk].astype(np.float64).tolist()
        key = int(self.rows.keys[chunk])
        payload = {
            KEY: key,
            SINCE: number,
            CODE: int(self.codes[chunk]),
            **self._filtered_by(chunk),
        }
        return models.PointStruct(id=row_id(key, number), vector=vectors, payload=payload)

    def _filtered_by(self, chunk: int) -> dict[str, Any]:
        marks = self.rows.marks.of_chunk(chunk)
        paths = [mark for mark in marks if mark.startswith(_PATH)]
        payload: dict[str, Any] = {
            MARKS: [mark.decode() for mark in marks if not mark.startswith(_PATH)],
            PATHS: sorted({piece for path in paths for piece in path_prefixes(path)}),
        }
        if (moment := int(self.rows.modified[chunk])) != UNKNOWN_TIME:
            payload[MODIFIED] = moment
        return payload


def assign_slots(keys: NDArray[np.int64], reassigned: Mapping[int, int]) -> dict[int, int]:
    """Return a slot, by key, for each term whose own slot is taken; `keys` (v,) are all keys.

    Terms in `reassigned` keep their slots unless these have been taken in the meantime.
    """
    slots = keys % _SLOTS
    found: dict[int, int] = {}
    for number in np.flatnonzero(
        np.isin(keys, np.array(list(reassigned), dtype=np.int64))
    ).tolist():
        slots[number] = found[int(keys[number])] = reassigned[int(keys[number])]
    order = np.argsort(slots, kind="stable")
    is_taken = slots[order[1:]] == slots[order[:-1]]
    for number in order[1:][is_taken].tolist():
        key = int(keys[number])
        slot, step = slots[number], key
        while (slots == slot).any():
            step = int(mix(np.array([step], dtype=np.int64).view(np.uint64)).view(np.int64)[0])
            slot = step % _SLOTS
        slots[number] = found[key] = int(slot)
    return found
