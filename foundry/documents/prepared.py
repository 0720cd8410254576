"""A document prepared for an index: read, chunked, with term counts and maybe embedded.

All of this depends only on the document, so it can be computed in any process and cached between
builds. Numbers are stored as little-endian bytes, and returned as arrays.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from foundry.documents import Chunk, Document


class ChunkTerms(NamedTuple):
    """The index terms of a document's n chunks: a sparse matrix with its own vocabulary.

    `offsets` (n + 1,), `numbers` and `counts` (p,) are uint32. The terms of chunk i, heading terms
    included, are `numbers[offsets[i] : offsets[i + 1]]`, as positions in `vocabulary`. A term may
    have several positions there, of which each chunk uses one. `lengths` uint32 (n,) are for BM25.
    """

    vocabulary: tuple[str, ...]
    offsets: bytes
    numbers: bytes
    counts: bytes
    lengths: bytes


class ChunkVectors(NamedTuple):
    """The embeddings of a document's n chunks by the built-in table.

    `rows` int8 (n, dimensions) and `scales` float32 (n,) are as in an index; `pieces` uint32 are
    the rows of the table that the chunks' texts use, each listed once per chunk.
    """

    dimensions: int
    rows: bytes
    scales: bytes
    pieces: bytes


class NamedHeading(NamedTuple):
    """A heading of a document, with data about it.

    `chunk` is the first chunk that has it as a name, `term` the position of its heading term in the
    vocabulary (-1 without one), and `kind` its quality as a query (`headings.Kind`).
    """

    text: str
    chunk: int
    term: int
    kind: int


class HeadingRows(NamedTuple):
    """The n distinct headings of a document.

    `texts` are joined in UTF-8; `hashes` and `lengths` (in bytes), uint64 (n,), are theirs.
    `chunks`, `terms` and `kinds`, uint32 (n,), are as in `NamedHeading`, with all bits set for no
    term.
    """

    hashes: bytes
    chunks: bytes
    terms: bytes
    kinds: bytes
    lengths: bytes
    texts: bytes


class LinkKeys(NamedTuple):
    """The targets of a document's links, and the addresses that lead to it: hashes, uint64.

    Link i (m,) points to `first[i]`, or to `other[i]` if no document has that address; 0 is none.
    """

    first: bytes
    other: bytes
    addresses: bytes


class FormCounts(NamedTuple):
    """The words of a document's chunks and headings in their original spelling.

    `forms` are distinct, joined by line feeds; `counts` uint32 (n,) is how often each occurs.
    """

    forms: str
    counts: bytes


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document with at least one chunk, and the data of each chunk.

    `vectors` is None if a model embeds the chunks later, or if they are not embedded.
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
    """Return the array (n,) that `pack` encoded."""
    return np.frombuffer(content, dtype=_little_endian(kind.__name__))


@cache
def _little_endian(name: str) -> np.dtype[Any]:
    kind: np.dtype[Any] = np.dtype(name).newbyteorder("<")
    return kind
