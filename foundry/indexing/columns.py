"""What an index knows of documents beside their records: what to filter by, chunks, links."""

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from foundry.indexing.files import write_array
from foundry.indexing.links import LinksBuilder
from foundry.indexing.postings import offsets_of
from foundry.records import Document
from foundry.runtime.index.arrays import encode_value
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.retrieval.filters import UNKNOWN_TIME, parse_time


class DocumentColumns:
    """Collects documents in the order of the index; `filterable` are columns of metadata."""

    def __init__(self, sources: Iterable[str], filterable: Iterable[str]) -> None:
        self._source_names = list(sources)
        self._sources = array("H")
        self._modified = array("q")
        self._chunk_counts = array("Q")
        self._tags: dict[str, list[int]] = {}
        self._values = ValueTableBuilder(filterable)
        self._links = LinksBuilder()
        self._chunk_count = 0

    def add(self, document: Document, chunk_count: int) -> None:
        """Take the next document, which has so many chunks."""
        modified = UNKNOWN_TIME if document.modified is None else parse_time(document.modified)
        chunks = range(self._chunk_count, self._chunk_count + chunk_count)
        self._sources.extend([self._source_names.index(document.source)] * chunk_count)
        self._modified.extend([modified] * chunk_count)
        for tag in document.tags:
            self._tags.setdefault(tag, []).extend(chunks)
        self._values.add(len(self._chunk_counts), document)
        self._links.add(document)
        self._chunk_counts.append(chunk_count)
        self._chunk_count += chunk_count

    def write(self, layout: IndexLayout) -> dict[str, Any]:
        """Write the files; returns what the manifest says of them."""
        write_array(layout.filter_sources, np.array(self._sources, dtype=np.uint16))
        write_array(layout.filter_modified, np.array(self._modified, dtype=np.int64))
        tags = sorted(self._tags)
        tag_chunks = [number for tag in tags for number in self._tags[tag]]
        write_array(layout.filter_tag_offsets, offsets_of([len(self._tags[tag]) for tag in tags]))
        write_array(layout.filter_tag_chunks, np.array(tag_chunks, dtype=np.uint32))
        write_array(layout.document_chunks, offsets_of(self._chunk_counts))
        self._values.write(layout)
        self._links.write(layout)
        return {
            "sources": self._source_names,
            "tags": tags,
            "filterable": list(self._values.filterable),
        }


class ValueTableBuilder:
    """Collects values document by document; `filterable` are the columns of metadata to keep."""

    def __init__(self, filterable: Iterable[str]) -> None:
        self.filterable: Sequence[str] = sorted(set(filterable))
        self._documents: dict[bytes, list[int]] = {}

    def add(self, number: int, document: Document) -> None:
        """Take the document with the next number."""
        for path in {document.path, *(place.path for place in document.also_at)}:
            self._put("path", path, number)
        for place in document.also_at:
            self._put("path", place.path, number)
            self._put("source", place.source, number)
        self._put("media_type", document.media_type, number)
        for name in self.filterable:
            if value := document.metadata.get(name):
                self._put(name, value, number)

    def write(self, layout: IndexLayout) -> None:
        """Write the files."""
        keys = sorted(self._documents)
        layout.filter_values.write_bytes(b"".join(keys))
        write_array(layout.filter_value_offsets, offsets_of([len(key) for key in keys]))
        numbers = [self._documents[key] for key in keys]
        write_array(layout.filter_document_offsets, offsets_of([len(entry) for entry in numbers]))
        flat = [number for entry in numbers for number in entry]
        write_array(layout.filter_documents, np.array(flat, dtype=np.uint32))

    def _put(self, field: str, value: str, number: int) -> None:
        numbers = self._documents.setdefault(encode_value(field, value), [])
        if number not in numbers[-1:]:
            numbers.append(number)
