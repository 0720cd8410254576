"""Writes the filters, chunk ranges and links of documents."""

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.documents.prepared import LinkKeys
from foundry.indexing.carried.carried import Carried
from foundry.indexing.entries import DocumentFields
from foundry.indexing.files import offsets_of, open_stored, split, write_array, write_stretches
from foundry.indexing.links import LinksBuilder
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.retrieval.filters import UNKNOWN_TIME, parse_time
from foundry.runtime.retrieval.values import encode_value


class DocumentColumns:
    """Collects documents in index order, which can be filtered by `filterable` metadata."""

    def __init__(self, sources: Iterable[str], filterable: Iterable[str], carried: Carried) -> None:
        self._carried = carried
        self._source_names = list(sources)
        self._filterable: Sequence[str] = sorted(set(filterable))
        # Columns: source and modification date of each chunk.
        self._chunks = carried.table("chunks", "Hq")
        self._tags = NumbersByKey()
        self._values = NumbersByKey()
        self._links = LinksBuilder(carried)

    def add(self, document: DocumentFields, chunk_count: int, links: LinkKeys) -> None:
        """Add the next document, with its number of chunks."""
        modified = UNKNOWN_TIME if document.modified is None else parse_time(document.modified)
        chunks = range(self._chunks.entries, self._chunks.entries + chunk_count)
        for tag in document.tags:
            self._tags.add(tag.encode(), chunks)
        for field, value in _values_of(document, self._filterable):
            self._values.add(encode_value(field, value), [len(self._chunks)])
        source = self._source_names.index(document.source)
        self._chunks.add([source] * chunk_count, [modified] * chunk_count)
        self._links.add(links)

    def write(self, layout: IndexLayout) -> dict[str, Any]:
        """Write the files; return their section of the manifest."""
        self._copy_keys()
        rows = self._chunks.stored()
        write_array(layout.document_chunks, rows.offsets)
        write_array(layout.filter_sources, rows.columns[0])
        write_array(layout.filter_modified, rows.columns[1])
        tags, offsets, chunks = self._tags.sorted()
        write_array(layout.filter_tag_offsets, offsets)
        write_array(layout.filter_tag_chunks, chunks)
        values, offsets, documents = self._values.sorted()
        write_stretches(layout.filter_values, layout.filter_value_offsets, values)
        write_array(layout.filter_document_offsets, offsets)
        write_array(layout.filter_documents, documents)
        self._links.write(layout)
        return {
            "sources": self._source_names,
            "tags": [tag.decode() for tag in tags],
            "filterable": list(self._filterable),
        }

    def _copy_keys(self) -> None:
        """Add the tags and values of all copied documents, with their new numbers."""
        carried = self._carried
        if (index := carried.index) is None:
            return
        self._tags.copy(
            [tag.encode() for tag in carried.manifest.tags],
            open_stored(index.filter_tag_offsets),
            carried.chunk_numbers[open_stored(index.filter_tag_chunks)],
        )
        self._values.copy(
            split(index.filter_values.read_bytes(), open_stored(index.filter_value_offsets)),
            open_stored(index.filter_document_offsets),
            carried.document_numbers[open_stored(index.filter_documents)],
        )


class NumbersByKey:
    """Collects numbers by key: documents by value, chunks by tag."""

    def __init__(self) -> None:
        self._keys: dict[bytes, int] = {}
        self._places = array("I")
        self._numbers = array("I")

    def add(self, key: bytes, numbers: Sequence[int]) -> None:
        """Add numbers to a key."""
        self._places.extend([self._keys.setdefault(key, len(self._keys))] * len(numbers))
        self._numbers.extend(numbers)

    def copy(
        self, keys: Sequence[bytes], offsets: NDArray[np.uint64], numbers: NDArray[np.int64]
    ) -> None:
        """Add `numbers[offsets[i] : offsets[i + 1]]` to `keys[i]`, except negative ones."""
        known = [self._keys.setdefault(key, len(self._keys)) for key in keys]
        places = np.repeat(np.array(known, dtype=np.uint32), np.diff(offsets).astype(np.int64))
        kept = numbers >= 0
        self._places.frombytes(places[kept].tobytes())
        self._numbers.frombytes(numbers[kept].astype(np.uint32).tobytes())

    def sorted(self) -> tuple[list[bytes], NDArray[np.uint64], NDArray[np.uint32]]:
        """Return the sorted keys that have numbers, their offsets, and their ascending numbers."""
        keys = sorted(self._keys)
        ranks = np.zeros(len(keys), dtype=np.int64)
        ranks[[self._keys[key] for key in keys]] = np.arange(len(keys))
        places = ranks[np.array(self._places, dtype=np.uint32)]
        pairs = np.sort(places << np.int64(32) | np.array(self._numbers, dtype=np.int64))
        # `np.unique` would hash, which takes many times as long as sorting.
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        counts = np.bincount(pairs >> np.int64(32), minlength=len(keys))
        used = np.flatnonzero(counts)
        numbers = (pairs & 0xFFFFFFFF).astype(np.uint32)
        return [keys[place] for place in used.tolist()], offsets_of(counts[used]), numbers


def _values_of(document: DocumentFields, filterable: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Yield the fields and values that a document can be filtered by, possibly repeatedly."""
    yield "path", document.path
    for place in document.also_at:
        yield "path", place.path
        yield "source", place.source
    yield "media_type", document.media_type
    for name in filterable:
        if value := document.metadata.get(name):
            yield name, value
