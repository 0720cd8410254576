"""A document as it goes into an index: read, split, its terms counted and, if need be, embedded.

What is here depends on the document alone, so it can be made in any process and kept from build to
build. Numbers are held as bytes, little endian, and handed out as arrays.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foundry.documents import Chunk, Document


@dataclass(frozen=True, slots=True)
class ChunkTerms:
    """The index terms of a document's n chunks: a sparse matrix with a vocabulary of its own.

    `offsets` (n + 1,), `numbers` and `counts` (p,) are uint32: chunk i has the terms `numbers` from
    `offsets[i]` to `offsets[i + 1]`, positions in `vocabulary`, heading terms among them; a term
    may have several positions, but only one in each chunk. `lengths` uint32 (n,) are BM25's.
    """

    vocabulary: tuple[str, ...]
    offsets: bytes
    numbers: bytes
    counts: bytes
    lengths: bytes


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    """The embeddings of a document's n chunks by the built-in table.

    `rows` int8 (n, dimensions) and `scales` float32 (n,) are as in an index; `pieces` uint32 are
    the table's rows that occur in each chunk's text, from `offsets` uint32 (n + 1,).
    """

    dimensions: int
    rows: bytes
    scales: bytes
    offsets: bytes
    pieces: bytes


class NamedHeading(NamedTuple):
    """A heading of a document, the first of its chunks that is found by it, the position of its
    heading term in the vocabulary (-1 without one), and how well it reads (`headings.Kind`)."""

    text: str
    chunk: int
    term: int
    kind: int


@dataclass(frozen=True, slots=True)
class LinkKeys:
    """The targets of a document's links, and the keys that lead to it: hashes, uint64.

    Link i (m,) asks for `first[i]`, and for `other[i]` if no document has that; 0 is nothing.
    """

    first: bytes
    other: bytes
    addresses: bytes


@dataclass(frozen=True, slots=True)
class FormCounts:
    """The words of a document's chunks and of their headings as they are written: different `forms`
    joined by line feeds, and how often each occurs, uint32 (n,)."""

    forms: str
    counts: bytes


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document with its chunks, at least one, and what is known of each of them.

    `vectors` is None where a model embeds the chunks when all are there, or nothing does.
    """

    document: Document
    chunks: tuple[Chunk, ...]
    terms: ChunkTerms
    headings: tuple[NamedHeading, ...]
    links: LinkKeys
    forms: FormCounts
    vectors: ChunkVectors | None = None


def pack(values: NDArray[Any]) -> bytes:
    """Return an array's bytes, little endian, row major."""
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).tobytes()


def unpack(content: bytes, kind: type[np.generic]) -> NDArray[Any]:
    """Return the array (n,) that `pack` made bytes of."""
    return np.frombuffer(content, dtype=np.dtype(kind).newbyteorder("<"))
