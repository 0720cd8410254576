"""Builds the table of filter values: which documents have which path, media type and metadata."""

from collections.abc import Iterable, Sequence

import numpy as np

from foundry.indexing.files import write_array
from foundry.indexing.postings import offsets_of
from foundry.records import Document
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.index.tables import encode_value


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
