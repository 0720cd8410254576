"""A document as it goes into an index: read, split, its terms counted and, if need be, embedded.

What is here depends on the document alone, so it can be made in any process and kept from build to
build. Numbers are held as bytes, little endian, and handed out as arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from foundry.records import Chunk, Document

_BASE64 = {"ser_json_bytes": "base64", "val_json_bytes": "base64"}


@dataclass(frozen=True, slots=True)
class ChunkTerms:
    """The index terms of a document's n chunks: a sparse matrix with a vocabulary of its own.

    `offsets` (n + 1,), `numbers` and `counts` (p,) are uint32: chunk i has the terms `numbers` from
    `offsets[i]` to `offsets[i + 1]`, positions in `vocabulary`, heading terms among them; a term
    may have several positions, but only one in each chunk. `lengths` uint32 (n,) are BM25's, and
    `headings` the headings by which each chunk is to be found.
    """

    __pydantic_config__: ClassVar[Any] = _BASE64

    vocabulary: tuple[str, ...]
    offsets: bytes
    numbers: bytes
    counts: bytes
    lengths: bytes
    headings: tuple[tuple[str, ...], ...]

    def select(self, chunks: Sequence[int]) -> "ChunkTerms":
        """Return the same for some of the chunks; the vocabulary stays."""
        offsets, (numbers, counts) = select_rows(
            unpack(self.offsets, np.uint32),
            (unpack(self.numbers, np.uint32), unpack(self.counts, np.uint32)),
            chunks,
        )
        return ChunkTerms(
            vocabulary=self.vocabulary,
            offsets=pack(offsets),
            numbers=pack(numbers),
            counts=pack(counts),
            lengths=pack(unpack(self.lengths, np.uint32)[list(chunks)]),
            headings=tuple(self.headings[chunk] for chunk in chunks),
        )

    def join(self, other: "ChunkTerms") -> "ChunkTerms":
        """These chunks, and others after them."""
        numbers = unpack(other.numbers, np.uint32) + np.uint32(len(self.vocabulary))
        return ChunkTerms(
            vocabulary=self.vocabulary + other.vocabulary,
            offsets=_join_offsets(self.offsets, other.offsets),
            numbers=self.numbers + pack(numbers),
            counts=self.counts + other.counts,
            lengths=self.lengths + other.lengths,
            headings=self.headings + other.headings,
        )


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    """The embeddings of a document's n chunks by the built-in table.

    `rows` int8 (n, dimensions) and `scales` float32 (n,) are as in an index; `pieces` uint32 are
    the table's rows that occur in each chunk's text, from `offsets` uint32 (n + 1,).
    """

    __pydantic_config__: ClassVar[Any] = _BASE64

    dimensions: int
    rows: bytes
    scales: bytes
    offsets: bytes
    pieces: bytes

    def select(self, chunks: Sequence[int]) -> "ChunkVectors":
        """Return the same for some of the chunks."""
        offsets, (pieces,) = select_rows(
            unpack(self.offsets, np.uint32), (unpack(self.pieces, np.uint32),), chunks
        )
        rows = unpack(self.rows, np.int8).reshape(-1, self.dimensions)
        return ChunkVectors(
            dimensions=self.dimensions,
            rows=pack(rows[list(chunks)]),
            scales=pack(unpack(self.scales, np.float32)[list(chunks)]),
            offsets=pack(offsets),
            pieces=pack(pieces),
        )

    def join(self, other: "ChunkVectors") -> "ChunkVectors":
        """These chunks, and others after them."""
        return ChunkVectors(
            dimensions=self.dimensions,
            rows=self.rows + other.rows,
            scales=self.scales + other.scales,
            offsets=_join_offsets(self.offsets, other.offsets),
            pieces=self.pieces + other.pieces,
        )


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document with its chunks, at least one, and what is known of each of them.

    `vectors` is None where a model embeds the chunks when all are there, or nothing does.
    """

    document: Document
    chunks: tuple[Chunk, ...]
    terms: ChunkTerms
    vectors: ChunkVectors | None = None

    def select(self, chunks: Sequence[int]) -> "PreparedDocument":
        """Return the document with some of its chunks alone, by their positions, ascending."""
        return replace(
            self,
            chunks=tuple(self.chunks[chunk] for chunk in chunks),
            terms=self.terms.select(chunks),
            vectors=None if self.vectors is None else self.vectors.select(chunks),
        )


def pack(values: NDArray[Any]) -> bytes:
    """Return an array's bytes, little endian, row major."""
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).tobytes()


def unpack(content: bytes, kind: type[np.generic]) -> NDArray[Any]:
    """Return the array (n,) that `pack` made bytes of."""
    return np.frombuffer(content, dtype=np.dtype(kind).newbyteorder("<"))


def _join_offsets(first: bytes, second: bytes) -> bytes:
    offsets = unpack(first, np.uint32)
    return first + pack(unpack(second, np.uint32)[1:] + offsets[-1])


def select_rows(
    offsets: NDArray[Any], columns: Sequence[NDArray[Any]], rows: Sequence[int]
) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Offsets and columns of a compressed sparse matrix's `rows` alone."""
    parts = [np.arange(offsets[row], offsets[row + 1]) for row in rows]
    places = np.concatenate([np.zeros(0, dtype=np.intp), *parts]).astype(np.intp)
    lengths = [0, *(len(part) for part in parts)]
    return np.cumsum(lengths).astype(offsets.dtype), [column[places] for column in columns]
