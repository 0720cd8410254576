"""Writes a build's index, and what the next build can take over from it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foundry.build.corpus.assembling import add_documents
from foundry.build.documents.cache import DocumentCache
from foundry.build.documents.inputs import Inputs
from foundry.build.report import check_strictly, without_secrets
from foundry.build.request import BuildOptions
from foundry.config.changes import hash_config
from foundry.config.project import Config
from foundry.embedding.embedder import Embedder
from foundry.embedding.static import StaticEmbedder
from foundry.indexing.carried import Previous
from foundry.indexing.writer import IndexWriter
from foundry.progress import Reporter
from foundry.runtime.index.layout import Manifest


@dataclass(frozen=True, slots=True)
class Written:
    """An index that has been written; `embedded` counts texts that a model embedded for it."""

    manifest: Manifest
    report: dict[str, Any]
    embedded: int


@dataclass(frozen=True, slots=True)
class Draft:
    """An index to be: its folder, what is left for the next build, and what can be taken over."""

    folder: Path
    left: Path | None = None
    previous: Previous | None = None


def write_index(
    draft: Draft,
    config: Config,
    inputs: Inputs,
    cache: DocumentCache,
    embedder: Embedder | None,
    reporter: Reporter,
    options: BuildOptions,
) -> Written:
    """Write an index of all inputs into a draft's folder.

    Raises EmptyBuildError without documents, and StrictBuildError for what `options` do not bear.
    """
    with opened_writer(draft, config) as writer:
        report = assemble(draft, config, inputs, cache, writer, embedder, reporter, options)
        embedded = 0
        if embedder is not None:
            if not isinstance(embedder, StaticEmbedder):
                with reporter.step("Embedding", "chunks", writer.chunk_count) as progress:
                    writer.embed(embedder, progress.advance)
                embedded = embedder.embedded
            report["refused"] = without_secrets(embedder.refusals())
            check(report, options)
        with reporter.step("Indexing", "chunks", writer.chunk_count) as progress:
            writer.write_lanes()
            progress.advance(writer.chunk_count)
        if embedder is not None:
            writer.make_query_encoder(embedder)
            if embedder.known_items is not None:
                report["known_items"] = asdict(embedder.known_items)
        manifest = writer.finish(report, config_sha256=hash_config(config))
        return Written(manifest, report, embedded)


def assemble(
    draft: Draft,
    config: Config,
    inputs: Inputs,
    cache: DocumentCache,
    writer: IndexWriter,
    embedder: Embedder | None,
    reporter: Reporter,
    options: BuildOptions,
) -> dict[str, Any]:
    """Hand all documents to the writer; returns the report. Raises as `write_index` does."""
    static = embedder if isinstance(embedder, StaticEmbedder) else None
    with reporter.step("Assembling", "documents", len(inputs)) as progress:
        report = add_documents(
            inputs, cache, writer, config, static, progress, draft.previous, draft.left
        )
    # Before a model is asked for anything.
    check(report, options)
    return {**report, "coverage": inputs.coverage} if inputs.coverage else report


def check(report: Mapping[str, Any], options: BuildOptions) -> None:
    """Raise StrictBuildError for what a strict build does not put up with."""
    if options.strict:
        check_strictly(report)


@contextmanager
def opened_writer(draft: Draft, config: Config) -> Iterator[IndexWriter]:
    """Provide the writer of a draft, whose files are closed in the end."""
    names = [source.name for source in config.sources]
    language = config.project.language
    writer = IndexWriter(
        draft.folder,
        language=language,
        sources=names,
        options=config.index,
        previous=draft.previous,
        left=draft.left,
    )
    try:
        yield writer
    finally:
        # What a full disk left in a buffer cannot be written now either.
        with suppress(OSError):
            writer.close()
