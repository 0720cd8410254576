"""Shows a built index as its server sees it: facts, documents, chunks, terms, vectors."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.errors import FoundryError
from foundry.inspection.text import (
    show_chunk,
    show_document,
    show_documents,
    show_index,
    show_synonyms,
)
from foundry.runtime.index.documents import DocumentRecord, Documents
from foundry.runtime.index.layout import FORMAT_VERSION, Vocabulary, open_array
from foundry.runtime.index.reader import OpenedIndex
from foundry.runtime.index.records import ChunkRecord, Place
from foundry.runtime.json_text import format_json
from foundry.runtime.retrieval.stages.synonyms import FOLDER, SynonymsLayout

MAX_CANDIDATES = 5
"""Maximum number of documents with the same path that an error lists."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of an index to show, by default all of it.

    `source` and `path`, in which `*` also matches slashes, select documents; `document` is the id
    or path of one document, `chunk` an id.
    """

    documents: bool = False
    source: str | None = None
    path: str | None = None
    document: str | None = None
    chunk: str | None = None
    synonyms: bool = False


def inspect_index(index: OpenedIndex, selection: Selection, *, as_json: bool) -> Iterator[str]:
    """Yield the lines to print, one by one, so that an index can have any size.

    Raises FoundryError if the index has no such source, document or chunk, or no synonyms.
    """
    inside = _Inside(index)
    if selection.synonyms:
        groups = inside.read_synonyms()
        yield from _json_list(iter(groups)) if as_json else show_synonyms(groups)
    elif selection.chunk is not None:
        chunk = inside.describe_chunk(selection.chunk)
        yield from [format_json(chunk, indent=2)] if as_json else show_chunk(chunk)
    elif selection.document is not None:
        document = inside.describe_document(selection.document)
        yield from [format_json(document, indent=2)] if as_json else show_document(document)
    elif selection.documents or (selection.source, selection.path) != (None, None):
        found = inside.find_documents(selection.source, selection.path)
        yield from _json_list(found) if as_json else show_documents(found)
    else:
        facts = inside.describe_index()
        yield from [format_json(facts, indent=2)] if as_json else show_index(facts)


class _Inside:
    """Describes an index and its parts, with data that searches do not need: a chunk's terms."""

    def __init__(self, index: OpenedIndex) -> None:
        self._index, self._documents = index, index.part(Documents.open)
        layout, manifest = index.layout, index.manifest
        self._vocabulary = Vocabulary.open(layout.terms, layout.term_offsets, manifest.terms)
        self._term_ends = open_array(layout.posting_offsets, np.uint64, (manifest.terms + 1,))
        self._chunks = open_array(layout.posting_chunks, np.uint32, (manifest.postings,))
        self._impacts = open_array(layout.posting_impacts, np.float32, (manifest.postings,))
        self._scales: NDArray[np.float32] | None = None
        if manifest.dense is not None:
            self._scales = open_array(layout.vector_scales, np.float32, (manifest.chunks,))

    def describe_index(self) -> dict[str, Any]:
        manifest = self._index.manifest
        dense = None
        if manifest.dense is not None and self._scales is not None:
            dense = {key: manifest.dense[key] for key in manifest.dense if key != "probe_vector"}
            dense["chunks_without_vector"] = int((self._scales == 0).sum())
        return {
            "index": str(self._index.layout.root),
            "version": manifest.version,
            "format": FORMAT_VERSION,
            "tokenizer_version": manifest.tokenizer_version,
            "language": manifest.language,
            "documents": manifest.documents,
            "chunks": manifest.chunks,
            "terms": manifest.terms,
            "postings": manifest.postings,
            "sources": [source.to_json() for source in self._documents.sources()],
            "tags": len(manifest.tags),
            "dense": dense,
            "config_sha256": manifest.config_sha256,
            "bytes": sum(int(entry["bytes"]) for entry in manifest.files.values()),
            "files": {name: entry["bytes"] for name, entry in sorted(manifest.files.items())},
        }

    def read_synonyms(self) -> list[dict[str, Any]]:
        file = SynonymsLayout(self._index.layout.root / FOLDER).groups
        try:
            groups: list[dict[str, Any]] = json.loads(file.read_bytes())
        except FileNotFoundError:
            hint = "choose [search.synonyms] in foundry.toml and build again"
            raise FoundryError("this index has no synonyms", hint=hint) from None
        return groups

    def find_documents(self, source: str | None, path: str | None) -> Iterator[dict[str, Any]]:
        names = self._index.manifest.sources
        if source is not None and source not in names:
            raise FoundryError(
                f"there is no source {source!r}", hint=f"sources: {', '.join(names)}"
            )
        for record in self._documents.page(limit=self._index.document_count):
            places: list[DocumentRecord | Place] = [record, *record.also_at]
            if any(
                source in (None, place.source) and (path is None or fnmatchcase(place.path, path))
                for place in places
            ):
                yield record.to_json()

    def describe_document(self, name: str) -> dict[str, Any]:
        record = self._find_document(name)
        terms = self._terms(record.chunk_start, record.chunk_start + record.chunks)
        chunks = [
            {
                "id": chunk.id,
                "section": chunk.section,
                "position": chunk.position,
                "characters": len(chunk.text),
                "terms": len(terms[number]),
                "has_vector": self._has_vector(record.chunk_start + number),
            }
            for number, chunk in enumerate(self._documents.chunks_of(record))
        ]
        return {**record.to_json(), "chunks": chunks}

    def describe_chunk(self, chunk_id: str) -> dict[str, Any]:
        chunk = self._index.find_chunk(chunk_id)
        if chunk is None:
            raise FoundryError(
                f"there is no chunk {chunk_id!r}",
                hint="--document PATH lists the chunks of a document",
            )
        number = self._number_of(chunk)
        (terms,) = self._terms(number, number + 1)
        return {
            **chunk.to_json(),
            "number": number,
            "has_vector": self._has_vector(number),
            "tokens": [
                {
                    "text": token.text,
                    "terms": list(token.terms),
                    "is_identifier": token.is_identifier,
                }
                for token in self._index.tokenizer.tokenize(chunk.text)
            ],
            "indexed": dict(terms),
        }

    def _find_document(self, name: str) -> DocumentRecord:
        found = self._documents.find(name)
        if found is not None:
            return found
        matching = [
            record
            for record in self._documents.page(limit=self._index.document_count)
            if name in (record.path, *(place.path for place in record.also_at))
        ]
        if len(matching) == 1:
            return matching[0]
        if matching:
            several = ", ".join(f"{r.id} ({r.source})" for r in matching[:MAX_CANDIDATES])
            raise FoundryError(f"{name!r} is in several sources", hint=f"name one: {several}")
        raise FoundryError(
            f"there is no document with the id or path {name!r}", hint="--documents lists all"
        )

    def _number_of(self, chunk: ChunkRecord) -> int:
        document = self._documents.find(chunk.document_id)
        place = None if document is None else self._documents.place_of(document, chunk.id)
        assert document is not None and place is not None
        return document.chunk_start + place

    def _has_vector(self, number: int) -> bool:
        return self._scales is not None and bool(self._scales[number] > 0)

    def _terms(self, start: int, end: int) -> list[list[tuple[str, float]]]:
        """Return terms and impacts of the chunks from `start` up to `end`, strongest first."""
        places = np.flatnonzero((self._chunks >= start) & (self._chunks < end))
        terms = np.searchsorted(self._term_ends, places.astype(np.uint64), side="right") - 1
        found: list[list[tuple[str, float]]] = [[] for _ in range(start, end)]
        for place, term in zip(places, terms, strict=True):
            name = self._vocabulary[int(term)].decode("utf-8", "replace")
            impact = round(float(self._impacts[place]), 4)
            found[int(self._chunks[place]) - start].append((name, impact))
        return [sorted(entries, key=lambda entry: (-entry[1], entry[0])) for entries in found]


def _json_list(values: Iterator[Mapping[str, Any]]) -> Iterator[str]:
    first = next(values, None)
    if first is None:
        yield "[]"
        return
    yield "[\n" + format_json(first)
    for value in values:
        yield "," + format_json(value)
    yield "]"
