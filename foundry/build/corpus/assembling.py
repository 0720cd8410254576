"""Hand prepared documents to the writer of an index, one by one in the sources' order.

What depends on more than one document is decided here: repeated ids, copies, boilerplate.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from foundry.build.corpus.boilerplate import Boilerplate, trim
from foundry.build.corpus.copies import find_copies
from foundry.build.corpus.signature import Signature
from foundry.build.documents.cache import DocumentCache
from foundry.build.documents.inputs import Inputs
from foundry.build.documents.preparer import Preparer
from foundry.build.documents.recipe import Recipe
from foundry.build.report import BuildReport
from foundry.config.project import Config
from foundry.config.sources import Source
from foundry.errors import EmptyBuildError
from foundry.indexing.writer import IndexWriter
from foundry.progress import Progress
from foundry.records import Chunk, Document, Place, Skipped
from foundry.records.prepared import ChunkVectors, PreparedDocument


def add_documents(
    inputs: Inputs,
    cache: DocumentCache,
    writer: IndexWriter,
    config: Config,
    observe: Callable[[ChunkVectors], object] | None,
    progress: Progress,
) -> dict[str, Any]:
    """Add all documents; returns the report. `observe` is shown the vectors that come with them.

    Raises EmptyBuildError when nothing is left.
    """
    report = BuildReport([source.name for source in config.sources])
    assembler = _Assembler(inputs, cache, config, report)
    for number, result in enumerate(inputs.results(cache)):
        progress.advance()
        if isinstance(result, Skipped):
            report.skip(result)
            continue
        chosen = assembler.choose(number, result)
        if chosen is not None:
            writer.add(chosen)
            report.index(chosen.document, chosen.chunks)
            if chosen.vectors is not None and observe is not None:
                observe(chosen.vectors)
    told = report.to_json()
    if not writer.chunk_count:
        raise EmptyBuildError(
            _nothing_to_index(config.sources, told),
            hint="check path, include and exclude in foundry.toml",
        )
    return told


class _Assembler:
    """Decides what of each document goes into the index.

    Documents are numbered in the sources' order; `choose` is to be called for each that is not
    skipped, in that order.
    """

    def __init__(
        self, inputs: Inputs, cache: DocumentCache, config: Config, report: BuildReport
    ) -> None:
        self._inputs, self._cache, self._report = inputs, cache, report
        self._recipe = Recipe.of(config)
        self._preparer: Preparer | None = None
        self._signatures = list(_without_repeated_ids(inputs.signatures(cache)))
        self._originals = find_copies(self._signatures, config.build.duplicates, self._read)
        self._copies: dict[int, list[int]] = {}
        for number, original in self._originals.items():
            self._copies.setdefault(original, []).append(number)
        self._boilerplate = Boilerplate()
        if config.build.boilerplate == "drop":
            for number, signature in enumerate(self._signatures):
                if signature is not None and number not in self._originals:
                    self._boilerplate.count(signature.source, signature.blocks)
        self._boilerplate.settle()

    def choose(self, number: int, prepared: PreparedDocument) -> PreparedDocument | None:
        """Return what of the document with this number goes into the index, if anything."""
        document, signature = prepared.document, self._signatures[number]
        if signature is None:
            same = f"id {document.id}"
            self._report.skip(Skipped(document.source, document.path, "duplicate id", same))
            return None
        self._report.read(document)
        if number in self._originals:
            self._report.copy(document, self._read(self._originals[number]))
            return None
        if unwanted := self._boilerplate.unwanted(signature.source, signature.blocks):
            trimmed = trim(document, prepared.chunks, unwanted)
            if trimmed.characters:
                self._report.trim(document, trimmed.dropped, trimmed.characters)
                prepared = self._with_chunks(prepared, trimmed.chunks)
        if number not in self._copies:
            return prepared
        found = _with_copies(document, [self._read(copy) for copy in self._copies[number]])
        # The first chunk is found by the copies' names as well.
        return self._with_chunks(replace(prepared, document=found), prepared.chunks)

    def _with_chunks(
        self, prepared: PreparedDocument, chunks: tuple[Chunk, ...]
    ) -> PreparedDocument:
        self._preparer = self._preparer or Preparer(self._recipe)
        return self._preparer.with_chunks(prepared, chunks)

    def _read(self, number: int) -> Document:
        result = self._inputs.result(number, self._cache)
        assert isinstance(result, PreparedDocument)
        return result.document


def _without_repeated_ids(signatures: Iterable[Signature | None]) -> Iterator[Signature | None]:
    """Yield the signatures; None for documents whose id an earlier one has."""
    seen: set[bytes] = set()
    for signature in signatures:
        is_new = signature is not None and signature.id not in seen
        yield signature if is_new else None
        if signature is not None:
            seen.add(signature.id)


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
