"""From prepared documents to the writer of an index, one after the other in the sources' order.

Here and nowhere before is decided what depends on more than one document. Documents about which
nothing has changed since the index before are taken over from it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from foundry.build.corpus.boilerplate import Trimmed, trim
from foundry.build.corpus.carrying import (
    NOT_INDEXED,
    InputsBuilder,
    KnownInputs,
    decision_key,
    longest_ascent,
)
from foundry.build.corpus.decisions import Decisions
from foundry.build.documents.cache import DocumentCache
from foundry.build.documents.inputs import Inputs
from foundry.build.documents.preparer import Preparer
from foundry.build.documents.recipe import Recipe
from foundry.build.documents.signature import Signature
from foundry.build.report import BuildReport, Figures, Remarks
from foundry.config.project import Config
from foundry.config.sources import Source
from foundry.embedding.static import StaticEmbedder
from foundry.errors import EmptyBuildError
from foundry.indexing.carried import CarriedLayout, Previous
from foundry.indexing.writer import IndexWriter
from foundry.progress import Progress
from foundry.records import Chunk, Document, Place, Skipped
from foundry.records.prepared import PreparedDocument


def add_documents(
    inputs: Inputs,
    cache: DocumentCache,
    writer: IndexWriter,
    config: Config,
    embedder: StaticEmbedder | None,
    progress: Progress,
    previous: Previous | None = None,
    left: CarriedLayout | None = None,
) -> dict[str, Any]:
    """Add all documents; returns the report. `embedder` observes the vectors that come with them.

    What has not changed since the `previous` index is taken over from there, and what the next
    build can take over is `left`. Raises EmptyBuildError when nothing is left to index.
    """
    assembler = _Assembler(inputs, cache, writer, config, previous)
    assembler.add_all(embedder, progress)
    if left is not None:
        assembler.leave(left, embedder)
    told = assembler.report.to_json()
    if not writer.chunk_count:
        raise EmptyBuildError(
            _nothing_to_index(config.sources, told),
            hint="check path, include and exclude in foundry.toml",
        )
    return told


class _Assembler:
    """Decides what of each document goes into the index; documents have the numbers of inputs."""

    def __init__(
        self,
        inputs: Inputs,
        cache: DocumentCache,
        writer: IndexWriter,
        config: Config,
        previous: Previous | None,
    ) -> None:
        self.report = BuildReport([source.name for source in config.sources])
        self._inputs, self._cache, self._writer = inputs, cache, writer
        self._recipe = Recipe.of(config)
        self._preparer: Preparer | None = None
        self._known = KnownInputs(previous)
        self._next = InputsBuilder()
        self._span = range(0)
        self._contents = [*map(inputs.content, range(len(inputs)))]
        self._places = [*map(self._known.find, self._contents)]
        self._signatures = [*map(self._signature_of, range(len(inputs)))]
        self._corpus = Decisions(self._signatures, config.build, self._read)

    def add_all(self, embedder: StaticEmbedder | None, progress: Progress) -> None:
        """Add all documents to the index."""
        carried = self._find_carried()
        for number in range(len(self._inputs)):
            progress.advance()
            if self._signatures[number] is None:
                self._skip(number)
            elif self._corpus.has_same_id(number):
                self._skip_same_id(number)
            elif (original := self._corpus.original_of(number)) is not None:
                self._leave_out(number, original)
            elif number in carried:
                self._carry(number, carried[number])
            else:
                self._add(number, embedder)
        self._end_span()
        if embedder is not None:
            self._known.resume(embedder, self._writer.texts_left_out())

    def leave(self, left: CarriedLayout, embedder: StaticEmbedder | None) -> None:
        """Write what the next build can take over."""
        self._next.leave(left, embedder)

    def _find_carried(self) -> dict[int, int]:
        """Return the documents to be taken over, with their numbers in the index before."""
        found = [
            (number, document)
            for number, place in enumerate(self._places)
            if place is not None
            and not self._corpus.has_same_id(number)
            and self._corpus.original_of(number) is None
            and (document := self._known.document(place, self._decision(number))) != NOT_INDEXED
        ]
        in_order = longest_ascent([document for _, document in found])
        return dict(found[place] for place in in_order)

    def _decision(self, number: int) -> int:
        copies = (self._contents[copy] or b"" for copy in self._corpus.copies_of(number))
        boilerplate = self._corpus.boilerplate_of(number)
        return decision_key(self._contents[number] or b"", boilerplate, copies)

    def _skip(self, number: int) -> None:
        place = self._places[number]
        skipped = (
            self._inputs.result(number, self._cache)
            if place is None
            else self._known.remarks(place)
        )
        assert isinstance(skipped, Skipped)
        self.report.skip(skipped)
        self._keep(number, skipped)

    def _skip_same_id(self, number: int) -> None:
        document = self._read(number)
        same = f"id {document.id}"
        self.report.skip(Skipped(document.source, document.path, "duplicate id", same))
        self._keep(number, Remarks.of(document))

    def _leave_out(self, number: int, original: int) -> None:
        """Leave out a copy, whose original stands for it."""
        place = self._places[number]
        remarks = Remarks.of(self._read(number)) if place is None else self._known.remarks(place)
        own, kept = self._signatures[number], self._signatures[original]
        assert own is not None and kept is not None
        self._report(number, remarks)
        self.report.copy(own.source, own.path, kept.source, kept.path)
        self._keep(number, remarks)

    def _carry(self, number: int, document: int) -> None:
        """Take a document over from the index before."""
        place = self._places[number]
        assert place is not None
        if document != self._span.stop:
            self._end_span()
            self._span = range(document, document)
        known = self._known
        self._index(number, known.remarks(place), known.figures(place), known.decision(place))
        self._span = range(self._span.start, document + 1)

    def _end_span(self) -> None:
        if self._span:
            self._writer.carry(self._span.start, self._span.stop)
        self._span = range(0)

    def _add(self, number: int, embedder: StaticEmbedder | None) -> None:
        """Add a document that has changed, or about which otherwise is decided than before."""
        self._end_span()
        chosen, trimmed = self._choose(number)
        characters = sum(len(chunk.text) for chunk in chosen.chunks)
        figures = Figures(len(chosen.chunks), characters, trimmed.dropped, trimmed.characters)
        self._index(number, Remarks.of(chosen.document), figures, self._decision(number))
        self._writer.add(chosen)
        if chosen.vectors is not None and embedder is not None:
            embedder.observe(chosen.vectors)

    def _choose(self, number: int) -> tuple[PreparedDocument, Trimmed]:
        """Return what of a document goes into the index, and what of its chunks does."""
        prepared = self._load(number)
        trimmed = Trimmed(prepared.chunks)
        if boilerplate := self._corpus.boilerplate_of(number):
            trimmed = trim(prepared.document, prepared.chunks, boilerplate)
            if trimmed.characters:
                prepared = self._with_chunks(prepared, trimmed.chunks)
        if copies := self._corpus.copies_of(number):
            found = _with_copies(prepared.document, [*map(self._read, copies)])
            # The first chunk is found by the copies' names as well.
            prepared = self._with_chunks(replace(prepared, document=found), prepared.chunks)
        return prepared, trimmed

    def _index(
        self, number: int, remarks: Remarks | Skipped, figures: Figures, decision: int
    ) -> None:
        """Note a document that goes into the index next, after a `decision`."""
        signature = self._signatures[number]
        assert signature is not None
        self._report(number, remarks)
        self.report.index(signature.source, figures)
        document = self._writer.document_count + len(self._span)
        self._keep(number, remarks, decision, document, figures)

    def _report(self, number: int, remarks: Remarks | Skipped) -> None:
        signature = self._signatures[number]
        assert signature is not None and isinstance(remarks, Remarks)
        self.report.read(signature.source, signature.path, remarks)

    def _keep(
        self,
        number: int,
        remarks: Remarks | Skipped,
        decision: int = 0,
        document: int = NOT_INDEXED,
        figures: Figures = Figures(),  # noqa: B008
    ) -> None:
        if (content := self._contents[number]) is not None:
            signature = self._signatures[number]
            self._next.add(content, signature, remarks, decision, document, figures)

    def _with_chunks(
        self, prepared: PreparedDocument, chunks: tuple[Chunk, ...]
    ) -> PreparedDocument:
        self._preparer = self._preparer or Preparer(self._recipe)
        return self._preparer.with_chunks(prepared, chunks)

    def _signature_of(self, number: int) -> Signature | None:
        place = self._places[number]
        if place is None:
            return self._inputs.signature(number, self._cache)
        return self._known.signature(place)

    def _load(self, number: int) -> PreparedDocument:
        result = self._inputs.result(number, self._cache)
        assert isinstance(result, PreparedDocument)
        return result

    def _read(self, number: int) -> Document:
        return self._load(number).document


def _with_copies(document: Document, copies: Sequence[Document]) -> Document:
    """Return the document with the places of its copies, found by their tags too."""
    tags = {*document.tags, *(tag for copy in copies for tag in copy.tags)}
    places = [Place(copy.id, copy.source, copy.path, copy.url, copy.title) for copy in copies]
    return replace(document, tags=tuple(sorted(tags)), also_at=tuple(places))


def count_reasons(report: dict[str, Any]) -> dict[str, int]:
    """Return how often each reason for skipping occurs in a report."""
    return dict(sorted(Counter(entry["reason"] for entry in report["skipped"]).items()))


def _nothing_to_index(sources: Sequence[Source], report: Mapping[str, Any]) -> str:
    reasons = Counter(entry["reason"] for entry in report["skipped"])
    places = ", ".join(str(getattr(source, "path", source.name)) for source in sources)
    listed = "".join(f"\n  {count} x {reason}" for reason, count in reasons.most_common())
    return f"no documents to index in {places}{listed}"
