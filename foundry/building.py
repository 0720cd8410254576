"""How an index comes about: sources are read, split, embedded and written, or only counted."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foundry.chunking import chunk
from foundry.config import Config
from foundry.config_sources import FolderSource, Source
from foundry.embedding.embedder import Embedder, Estimate
from foundry.errors import EmptyBuildError
from foundry.indexing.writer import IndexWriter
from foundry.progress import Reporter
from foundry.readers import read
from foundry.readers.sandbox import Sandbox
from foundry.records import Skipped
from foundry.runtime.layout import Manifest
from foundry.sources import iterate
from foundry.sources.estimate import estimate

_DECIDING = (
    "provider",
    "model",
    "dimensions",
    "document_prefix",
    "query_prefix",
    "max_tokens",
    "query",
    "distillation_texts",
)
"""Keys of [embedding] that the index depends on; the others say how to reach the model."""


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """What a build would do; `embedding` is None where nothing has to be asked of a model.

    `training_texts` is the most that the model will be asked to embed beside the chunks.
    """

    documents: int
    chunks: int
    skipped: dict[str, int]
    embedding: Estimate | None
    training_texts: int


def write_index(
    folder: Path, config: Config, embedder: Embedder | None, reporter: Reporter
) -> tuple[Manifest, dict[str, Any]]:
    """Write an index into a new folder; returns its manifest and the report that is in it."""
    writer = _open_writer(folder, config)
    try:
        report = _read_sources(config, writer, reporter)
        if embedder is not None:
            with reporter.step("Embedding", "chunks", writer.chunk_count) as progress:
                writer.embed(embedder, progress.advance)
            report["refused"] = embedder.refusals()
        with reporter.step("Indexing", "chunks", writer.chunk_count) as progress:
            writer.write_lanes()
            progress.advance(writer.chunk_count)
        if embedder is not None:
            writer.make_query_encoder(embedder)
        return writer.finish(report, config_sha256=_hash_config(config)), report
    finally:
        # What a full disk left in a buffer cannot be written now either.
        with suppress(OSError):
            writer.close()


def plan_build(
    folder: Path, config: Config, embedder: Embedder | None, reporter: Reporter
) -> BuildPlan:
    """Read and split everything, and count what would be embedded; `folder` is for scratch."""
    writer = _open_writer(folder, config)
    try:
        report = _read_sources(config, writer, reporter)
        needed = None if embedder is None else writer.estimate(embedder)
        asks = needed is not None and config.embedding.query != "same"
        return BuildPlan(
            documents=writer.document_count,
            chunks=writer.chunk_count,
            skipped=count_reasons(report),
            embedding=needed,
            training_texts=config.embedding.distillation_texts if asks else 0,
        )
    finally:
        with suppress(OSError):
            writer.close()


def count_reasons(report: dict[str, Any]) -> dict[str, int]:
    """How often each reason for skipping occurs in a report."""
    return dict(sorted(Counter(entry["reason"] for entry in report["skipped"]).items()))


def _open_writer(folder: Path, config: Config) -> IndexWriter:
    names = [source.name for source in config.sources]
    return IndexWriter(folder, language=config.language, sources=names)


def _read_sources(config: Config, writer: IndexWriter, reporter: Reporter) -> dict[str, Any]:
    skipped: list[Skipped] = []
    summaries = []
    seen: set[str] = set()
    total = sum(estimate(source) for source in config.sources)
    with Sandbox() as sandbox, reporter.step("Reading", "documents", total) as progress:
        for source in config.sources:
            documents, chunks = writer.document_count, writer.chunk_count
            for raw in iterate(source):
                progress.advance()
                document = raw if isinstance(raw, Skipped) else read(raw, sandbox)
                if not isinstance(document, Skipped) and document.id in seen:
                    document = Skipped(
                        document.source, document.path, "duplicate id", f"id {document.id}"
                    )
                if isinstance(document, Skipped):
                    skipped.append(document)
                    continue
                pieces = chunk(document, config.chunking)
                if not pieces:
                    skipped.append(Skipped(document.source, document.path, "no text"))
                    continue
                seen.add(document.id)
                writer.add(document, pieces)
            summaries.append(
                {
                    "name": source.name,
                    "documents": writer.document_count - documents,
                    "chunks": writer.chunk_count - chunks,
                    "skipped": sum(entry.source == source.name for entry in skipped),
                }
            )
    if not writer.chunk_count:
        raise EmptyBuildError(
            _nothing_to_index(config.sources, skipped),
            hint="check path, include and exclude in foundry.toml",
        )
    return {"sources": summaries, "skipped": [asdict(entry) for entry in skipped]}


def _nothing_to_index(sources: Sequence[Source], skipped: Sequence[Skipped]) -> str:
    reasons = Counter(entry.reason for entry in skipped)
    places = ", ".join(str(source.path) for source in sources)
    listed = "".join(f"\n  {count} x {reason}" for reason, count in reasons.most_common())
    return f"no documents to index in {places}{listed}"


def _hash_config(config: Config) -> str:
    """Over everything that decides the index; paths as they stand relative to the project."""
    embedding = asdict(config.embedding)
    values = {
        "language": config.language,
        "chunking": asdict(config.chunking),
        "embedding": {key: embedding[key] for key in _DECIDING},
        "sources": [_source_values(source, config.root) for source in config.sources],
    }
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _source_values(source: Source, root: Path) -> dict[str, object]:
    kind = "folder" if isinstance(source, FolderSource) else "records"
    return {**asdict(source), "path": os.path.relpath(source.path, root), "type": kind}
