"""The rows of an index, and codes that identify equal rows.

A row is everything that an engine stores for a chunk: vector, term counts, length, filter values,
and records if they are wanted. Its code is a 64-bit hash of all this. Publishing compares codes to
find the rows that the engine lacks; the probability that a changed row is missed is 2**-64.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from foundry.errors import IndexUnusableError
from foundry.runtime.index.layout import Vocabulary, open_array
from foundry.runtime.index.lines import hash_key
from foundry.runtime.retrieval.values import encode_value
from foundry.runtime.store.rows import signed_key
from foundry.stores.content import Content, batches
from foundry.stores.records import Records

BLOCK = 1 << 18
"""Postings, or bytes of vectors, hashed at a time: they fit into a processor's cache."""

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash numbers with the finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    mixed = (values ^ (values >> np.uint64(30))) * _FACTORS[0]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _FACTORS[1]
    return mixed ^ (mixed >> np.uint64(31))


@dataclass(frozen=True)
class Rows:
    """The rows (n,) of a version, in chunk order.

    `modified` int64 (n,) are their dates in seconds since 1970, or UNKNOWN_TIME.
    """

    content: Content
    modified: NDArray[np.int64]
    marks: "Marks"
    records: Records | None

    @classmethod
    def open(cls, content: Content, *, with_records: bool = False) -> Self:
        """Map the files of an index. Raises IndexUnusableError."""
        files = content.files
        modified = open_array(files.layout.filter_modified, np.int64, (files.manifest.chunks,))
        records = Records.open(files) if with_records else None
        return cls(content, modified, Marks.open(content), records)

    def __len__(self) -> int:
        return len(self.content.scales)

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """The 64-bit hash (n,) of each chunk's id. Raises IndexUnusableError if two are equal."""
        index = self.content.index
        return _distinct(
            self.content.edition.keys.by_number,
            lambda number: f"chunk {index.chunk(number).id} of {index.chunk(number).path}",
        )

    @cached_property
    def term_keys(self) -> NDArray[np.int64]:
        """The 64-bit hash (v,) of each term. Raises IndexUnusableError if two are equal."""
        words = [word.decode("utf-8", "replace") for word in self.content.vocabulary]
        keys = np.fromiter(map(signed_key, words), np.int64, len(words))
        return _distinct(keys, lambda number: f"the term {words[number]!r}")

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The 64-bit hash (n,) of each row's content."""
        codes = mix(self.keys.view(np.uint64)) + self.content.lengths * _STEP
        codes = mix(codes + self.modified.view(np.uint64))
        codes = mix(codes + self._vector_codes())
        codes = mix(codes + self._posting_codes())
        codes = mix(codes + self.marks.codes)
        if self.records is not None:
            codes = mix(codes + self.records.codes)
        return codes.view(np.int64)

    def postings_of(
        self, chosen: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the postings (k,) of chunks (m,): terms, positions in `chosen`, and counts."""
        places = np.full(len(self), -1, dtype=np.int64)
        places[chosen] = np.arange(len(chosen))
        found = np.flatnonzero(places[self.content.chunks] >= 0)
        terms = np.searchsorted(self.content.offsets, found.astype(np.uint64), "right") - 1
        return (
            terms,
            places[self.content.chunks[found]],
            self.content.counts[found].astype(np.int64),
        )

    def _vector_codes(self) -> NDArray[np.uint64]:
        vectors = self.content.vectors
        width = -(-vectors.shape[1] // 8) * 8
        codes = np.empty(len(self), dtype=np.uint64)
        steps = _STEP * np.arange(1, width // 8 + 1, dtype=np.uint64)
        for part in batches(len(self), max(1, BLOCK // width)):
            padded = np.zeros((part.stop - part.start, width), dtype=np.int8)
            padded[:, : vectors.shape[1]] = vectors[part]
            codes[part] = mix(padded.view(np.uint64) + steps).sum(axis=1)
        return mix(codes + self.content.scales.view(np.uint32) + np.uint64(vectors.shape[1]))

    def _posting_codes(self) -> NDArray[np.uint64]:
        codes = np.zeros(len(self), dtype=np.uint64)
        keys, offsets = self.term_keys.view(np.uint64), self.content.offsets
        for part in batches(len(self.content.chunks), BLOCK):
            first = int(np.searchsorted(offsets, part.start, "right")) - 1
            last = int(np.searchsorted(offsets, part.stop))
            ends = np.clip(offsets[first : last + 1].astype(np.int64), part.start, part.stop)
            counts = self.content.counts[part]
            mixed = mix(np.repeat(keys[first:last], np.diff(ends)) + counts * _STEP)
            np.add.at(codes, self.content.chunks[part], mixed)
        return codes


@dataclass(frozen=True)
class Marks:
    """The filter values of documents, except dates, encoded by `encode_value`.

    These are sources, tags, paths, media types and metadata. All chunks of a document have its
    marks. Document `documents[i]` has the value `values[places[i]]`; `documents` (k,) ascend.
    """

    values: list[bytes]
    documents: NDArray[np.int64]
    places: NDArray[np.int64]
    chunk_documents: NDArray[np.int64]

    @classmethod
    def open(cls, content: Content) -> Self:
        """Read the files of filters. Raises IndexUnusableError."""
        layout, manifest = content.files.layout, content.files.manifest
        ends = open_array(layout.document_chunks, np.uint64, (-1,)).astype(np.int64)
        owners = np.repeat(np.arange(len(ends) - 1), _counts(ends))
        table = Vocabulary.open(layout.filter_values, layout.filter_value_offsets)
        table_ends = open_array(layout.filter_document_offsets, np.uint64, (len(table) + 1,))
        tag_ends = open_array(layout.filter_tag_offsets, np.uint64, (len(manifest.tags) + 1,))
        tag_chunks = open_array(layout.filter_tag_chunks, np.uint32, (-1,))
        values = list(table)
        documents = [open_array(layout.filter_documents, np.uint32, (-1,)).astype(np.int64)]
        places = [np.repeat(np.arange(len(table)), _counts(table_ends))]
        documents.append(owners[tag_chunks])
        places.append(len(values) + np.repeat(np.arange(len(tag_ends) - 1), _counts(tag_ends)))
        values += [encode_value("tags", tag) for tag in manifest.tags]
        documents.append(owners)
        sources = open_array(layout.filter_sources, np.uint16, (manifest.chunks,))
        places.append(len(values) + sources.astype(np.int64))
        values += [encode_value("source", name) for name in manifest.sources]
        return cls(
            *_distinct_pairs(values, np.concatenate(documents), np.concatenate(places)), owners
        )

    @cached_property
    def codes(self) -> NDArray[np.uint64]:
        """The hash (n,) of the marks of each chunk."""
        hashes = np.fromiter(map(_hash, self.values), np.uint64, len(self.values))
        codes = np.zeros(int(self.chunk_documents.max(initial=-1)) + 1, dtype=np.uint64)
        is_used = self.documents < len(codes)
        np.add.at(codes, self.documents[is_used], mix(hashes[self.places[is_used]]))
        return codes[self.chunk_documents]

    def of_chunk(self, chunk: int) -> list[bytes]:
        """Return the marks of a chunk, sorted."""
        document = self.chunk_documents[chunk]
        first, last = np.searchsorted(self.documents, [document, document + 1]).tolist()
        return [self.values[place] for place in self.places[first:last].tolist()]


def _counts(ends: NDArray[Any]) -> NDArray[np.int64]:
    return np.diff(ends).astype(np.int64)


def _hash(value: bytes) -> int:
    return hash_key(value.decode("utf-8", "surrogateescape"))


def _distinct_pairs(
    values: list[bytes], documents: NDArray[np.int64], places: NDArray[np.int64]
) -> tuple[list[bytes], NDArray[np.int64], NDArray[np.int64]]:
    """Return the values sorted, and the pairs of a document and the position of one of its values.

    Values and pairs are distinct; the pairs are two arrays.
    """
    distinct = sorted(set(values))
    ranks = {value: rank for rank, value in enumerate(distinct)}
    ranked = np.array([ranks[value] for value in values], dtype=np.int64)[places]
    pairs = np.sort(documents << np.int64(32) | ranked)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]
    return distinct, pairs >> np.int64(32), pairs & np.int64(2**32 - 1)


def _distinct(keys: NDArray[np.int64], name: Callable[[int], str]) -> NDArray[np.int64]:
    # Sorting takes an eighth of the time of `np.unique`, which hashes.
    ordered = np.sort(keys)
    equal = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(equal):
        one, other = map(name, np.flatnonzero(keys == ordered[equal[0]])[:2].tolist())
        raise IndexUnusableError(
            f"{one} and {other} have the same 64-bit hash, so an engine cannot tell them apart",
            hint="edit a document that has one of them, or use the embedded index",
        )
    return keys
