"""From prepared documents to the writer of an index, one after the other in the sources' order.

Here and nowhere before is decided what depends on more than one document.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from foundry.build.deduplication.corpus import Corpus, with_copies
from foundry.build.preparing.cache import DocumentCache
from foundry.build.preparing.inputs import Inputs
from foundry.build.preparing.preparer import Preparer
from foundry.build.preparing.recipe import Recipe
from foundry.build.report import BuildReport
from foundry.config.project import Config
from foundry.config.sources import Source
from foundry.errors import EmptyBuildError
from foundry.indexing.writer import IndexWriter
from foundry.prepared import ChunkVectors, PreparedDocument
from foundry.progress import Progress
from foundry.records import Chunk, Document, Skipped


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
    """Decides what of each document goes into the index."""

    def __init__(
        self, inputs: Inputs, cache: DocumentCache, config: Config, report: BuildReport
    ) -> None:
        self._inputs, self._cache, self._report = inputs, cache, report
        self._recipe = Recipe.of(config)
        self._preparer: Preparer | None = None
        self._corpus = Corpus(config.build)
        for signature in inputs.signatures(cache):
            self._corpus.take(signature)
        self._corpus.settle(self._read)

    def choose(self, number: int, prepared: PreparedDocument) -> PreparedDocument | None:
        """Return what of the document with this number goes into the index, if anything."""
        document = prepared.document
        if self._corpus.has_same_id(number):
            same = f"id {document.id}"
            self._report.skip(Skipped(document.source, document.path, "duplicate id", same))
            return None
        self._report.read(document)
        original = self._corpus.original_of(number)
        if original is not None:
            self._report.copy(document, self._read(original))
            return None
        trimmed = self._corpus.trim(number, document, prepared.chunks)
        if trimmed.characters:
            self._report.trim(document, trimmed.dropped, trimmed.characters)
            prepared = self._with_chunks(prepared, trimmed.chunks)
        copies = self._corpus.copies_of(number)
        if not copies:
            return prepared
        found = with_copies(document, [self._read(copy) for copy in copies])
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


def count_reasons(report: dict[str, Any]) -> dict[str, int]:
    """Return how often each reason for skipping occurs in a report."""
    return dict(sorted(Counter(entry["reason"] for entry in report["skipped"]).items()))


def _nothing_to_index(sources: Sequence[Source], report: Mapping[str, Any]) -> str:
    reasons = Counter(entry["reason"] for entry in report["skipped"])
    places = ", ".join(str(getattr(source, "path", source.name)) for source in sources)
    listed = "".join(f"\n  {count} x {reason}" for reason, count in reasons.most_common())
    return f"no documents to index in {places}{listed}"
