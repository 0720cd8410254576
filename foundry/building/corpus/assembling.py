"""Adds prepared documents to an index, in the order of the sources.

Unchanged documents are copied from the previous index.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.building.corpus.boilerplate import Trimmed, trim
from foundry.building.corpus.decisions import decide
from foundry.building.corpus.input_table import (
    NO_REMARKS,
    NOT_INDEXED,
    InputTable,
    decision_key,
    longest_ascent,
)
from foundry.building.documents.cache import DocumentCache
from foundry.building.documents.encoding import StoredDocument
from foundry.building.documents.inputs import Inputs
from foundry.building.documents.preparer import Preparer
from foundry.building.documents.recipe import Recipe
from foundry.building.report import BuildReport, Figures, Remarks
from foundry.building.report_text import nothing_to_index
from foundry.config.project import Config
from foundry.documents import Chunk, Document, Place, Skipped
from foundry.documents.reasons import Reason
from foundry.embedding.static import StaticEmbedder
from foundry.indexing.carried.carried import Carried
from foundry.indexing.carried.numbers import InputNumber, PreviousDocument, Span
from foundry.indexing.entries import DocumentFields, IndexEntry
from foundry.indexing.writer import IndexWriter
from foundry.progress import Progress
from foundry.sources.versions import find_unlisted

CHUNKS_AT_ONCE = 512
"""Chunks added together, since NumPy takes as long for a few numbers as for hundreds."""


def add_documents(
    inputs: Inputs,
    cache: DocumentCache,
    writer: IndexWriter,
    config: Config,
    embedder: StaticEmbedder | None,
    progress: Progress,
    carried: Carried,
) -> dict[str, Any]:
    """Add all documents; return the report. `embedder` counts the word pieces of documents.

    Unchanged documents are copied from the previous index. Raises EmptyBuildError if nothing is
    left to index.
    """
    assembler = _Assembler(inputs, cache, writer, config, carried)
    assembler.add_all(embedder, progress)
    told = assembler.report.to_json()
    if config.versions and (unlisted := assembler.unlisted_versions(config.versions)):
        told["unlisted_versions"] = unlisted
    if not writer.chunk_count:
        raise nothing_to_index(config, told)
    return told


class _Assembler:
    """Adds documents to an index, with their copies and without boilerplate."""

    def __init__(
        self,
        inputs: Inputs,
        cache: DocumentCache,
        writer: IndexWriter,
        config: Config,
        carried: Carried,
    ) -> None:
        self._inputs, self._cache, self._writer = inputs, cache, writer
        self._carried, self._recipe = carried, Recipe.of(config)
        self._names = [source.name for source in config.sources]
        self.report = BuildReport(self._names)
        self._loaded: tuple[int, StoredDocument | Skipped] | None = None
        self._table = InputTable(inputs, cache, self._names, carried)
        self._corpus = decide(self._table, config.build, config.versions, self._read)
        self._decisions = np.zeros(len(inputs), dtype=np.uint64)
        for number in {*self._corpus.boilerplate, *self._corpus.copies}:
            self._decisions[number] = self._decision_key(number)

    @cached_property
    def _preparer(self) -> Preparer:
        return Preparer(self._recipe)

    def add_all(self, embedder: StaticEmbedder | None, progress: Progress) -> None:
        """Add all documents to the index, and store data about them for the next build."""
        documents = self._find_copied()
        for inputs in self._spans(documents):
            if (document := int(documents[inputs.first])) == NOT_INDEXED:
                for entries in self._entries(inputs, progress):
                    self._writer.add(entries)
                    if embedder is not None:
                        embedder.observe([entry.vectors for entry in entries if entry.vectors])
            else:
                self._copy(inputs, PreviousDocument(document))
                progress.advance(inputs.last - inputs.first)
        self._table.leave()
        if embedder is not None:
            if (counts := self._carried.array("pieces")) is not None:
                gone = (chunk.text for chunk in self._carried.chunks_left_out())
                embedder.resume(counts, self._carried.manifest.chunks, gone)
            self._carried.leave("pieces", embedder.frequencies)

    def unlisted_versions(self, listed: Sequence[str]) -> list[str]:
        """Return the folders that hold versions but are not `listed`."""
        paths: dict[str, list[str]] = {}
        for number in map(InputNumber, range(len(self._table))):
            if (signature := self._table.signature(number)) is not None:
                paths.setdefault(signature.source, []).append(signature.path)
        found = [name for each in paths.values() for name in find_unlisted(each, listed)]
        return [*dict.fromkeys(found)]

    def _find_copied(self) -> NDArray[np.int64]:
        """Return the number (n,) of each input's document in the previous index.

        It is NOT_INDEXED if the document is not copied.
        """
        documents = self._table.documents_before(self._decisions)
        documents[[*self._corpus.repeated, *self._corpus.originals]] = NOT_INDEXED
        found = np.flatnonzero(documents != NOT_INDEXED)
        in_order = found[sorted(longest_ascent(documents[found].tolist()))]
        copied = np.full(len(documents), NOT_INDEXED)
        copied[in_order] = documents[in_order]
        return copied

    def _spans(self, documents: NDArray[np.int64]) -> Iterator[Span[InputNumber]]:
        """Yield spans of inputs that are copied together, and spans that are not copied.

        Five inputs of one source, numbered [0, 1, NOT_INDEXED, 2, 3] in the previous index, have
        the spans (0, 2), (2, 3) and (3, 5); only the second span is not copied.
        """
        sources, is_copied = self._table.sources, documents != NOT_INDEXED
        goes_on = (np.diff(documents) == 1) & (np.diff(self._table.places) == 1)
        goes_on &= is_copied[:-1] & (sources[1:] == sources[:-1])
        is_first = ~np.where(is_copied[1:], goes_on, ~is_copied[:-1])
        ends = {0, *(np.flatnonzero(is_first) + 1).tolist(), len(documents)}
        for first, last in pairwise(sorted(ends)):
            yield Span(InputNumber(first), InputNumber(last))

    def _decision_key(self, number: int) -> int:
        contents = self._table.contents
        copies = (bytes(contents[copy]) for copy in self._corpus.copies.get(number, ()))
        return decision_key(self._corpus.boilerplate.get(number, ()), copies)

    def _copy(self, inputs: Span[InputNumber], document: PreviousDocument) -> None:
        """Copy a span of inputs from the previous index, where it starts at `document`."""
        count = inputs.last - inputs.first
        self._writer.copy(Span(document, PreviousDocument(document + count)))
        for number in self._table.remarkable(inputs):
            remarks = self._table.remarks(number)
            assert isinstance(remarks, Remarks)
            self.report.read(*self._place(number), remarks)
        source = self._names[self._table.sources[inputs.first]]
        self.report.index(source, self._table.figures(inputs), count)

    def _entries(self, inputs: Span[InputNumber], progress: Progress) -> Iterator[list[IndexEntry]]:
        """Yield the index entries of inputs that are not copied, in groups."""
        group: list[IndexEntry] = []
        chunks = 0
        for number in map(InputNumber, range(*inputs)):
            if (entry := self._take(number)) is not None:
                group.append(entry)
                chunks += entry.chunk_count
            progress.advance()
            if chunks >= CHUNKS_AT_ONCE:
                yield group
                group, chunks = [], 0
        if group:
            yield group

    def _take(self, number: InputNumber) -> IndexEntry | None:
        """Return the entry of an input; if it is left out, return None and report the reason."""
        entry = None
        remarks, decision, figures = self._remarks(number), 0, None
        if isinstance(remarks, Skipped):
            self.report.skip(remarks)
        elif number in self._corpus.repeated:
            repeated = self._load(number)
            assert isinstance(repeated, StoredDocument)
            same = f"id {repeated.fields.id}"
            self.report.skip(Skipped(*self._place(number), Reason.DUPLICATE_ID, same))
        else:
            if remarks != NO_REMARKS:
                self.report.read(*self._place(number), remarks)
            original = self._corpus.originals.get(number)
            if original is not None:
                words = remarks.words[0] if remarks.words else 0
                kept = self._place(InputNumber(original))
                self.report.copy(*self._place(number), *kept, words)
            else:
                decision = int(self._decisions[number])
                entry, figures = self._entry(number)
                self.report.index(self._names[self._table.sources[number]], figures)
        self._table.note(number, remarks, decision, figures)
        return entry

    def _entry(self, number: int) -> tuple[IndexEntry, Figures]:
        """Return a document's entry, with its copies and without boilerplate, and its figures."""
        stored = self._load(number)
        assert isinstance(stored, StoredDocument)
        entry, facts = stored.entry, stored.facts
        figures = Figures(stored.chunk_count, facts.characters, words=facts.words)
        boilerplate = self._corpus.boilerplate.get(number)
        copies = [*map(self._fields, self._corpus.copies.get(number, ()))]
        is_changed = copies or (boilerplate and not boilerplate.isdisjoint(stored.edges))
        if is_changed and (read := _read(stored)) is not None:
            document, chunks = read
            trimmed = trim(document, chunks, boilerplate) if boilerplate else Trimmed(chunks)
            if copies or trimmed.characters:
                # A search for the copy's path must find the first chunk too, so the path is added
                # to its names.
                document = _with_copies(document, copies)
                entry = IndexEntry.of(self._preparer.complete(document, trimmed.chunks))
                left = len(trimmed.chunks), facts.characters - trimmed.characters
                figures = Figures(*left, trimmed.dropped, trimmed.characters, facts.words)
        return entry, figures

    def _place(self, number: InputNumber) -> tuple[str, str]:
        """Return the source and path of an input that was not skipped."""
        signature = self._table.signature(number)
        assert signature is not None
        return signature.source, signature.path

    def _remarks(self, number: InputNumber) -> Remarks | Skipped:
        if (known := self._table.remarks(number)) is not None:
            return known
        result = self._load(number)
        return result if isinstance(result, Skipped) else result.remarks

    def _load(self, number: int) -> StoredDocument | Skipped:
        if self._loaded is None or self._loaded[0] != number:
            self._loaded = number, self._inputs.result(number, self._cache)
        return self._loaded[1]

    def _fields(self, number: int) -> DocumentFields:
        result = self._load(number)
        assert isinstance(result, StoredDocument)
        return result.fields

    def _read(self, number: int) -> Document | None:
        result = self._load(number)
        read = None if isinstance(result, Skipped) else _read(result)
        return read and read[0]


def _read(stored: StoredDocument) -> tuple[Document, tuple[Chunk, ...]] | None:
    """Return a full document with its chunks; None if a worker returned an invalid one.

    In that case, its index entry is used unchanged.
    """
    try:
        return stored.read()
    except ValueError:
        return None


def _with_copies(document: Document, copies: Sequence[DocumentFields]) -> Document:
    """Return a document with the places and tags of its copies added."""
    tags = {*document.tags, *(tag for copy in copies for tag in copy.tags)}
    places = [Place(copy.id, copy.source, copy.path, copy.url, copy.title) for copy in copies]
    return replace(document, tags=tuple(sorted(tags)), also_at=tuple(places))
