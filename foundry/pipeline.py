"""What Foundry does, each a short story: init, build, query, export, verify."""

import hashlib
import json
import os
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from foundry.chunking import chunk
from foundry.config import (
    CONFIG_NAME,
    QUESTIONS_NAME,
    Config,
    FolderSource,
    Source,
    load_config,
)
from foundry.embedding.embedder import Embedder
from foundry.embedding.registry import open_embedder
from foundry.errors import (
    BuildError,
    EmptyBuildError,
    FoundryError,
    IndexUnusableError,
)
from foundry.exporting.checksums import CHECKSUMS
from foundry.exporting.verify import run_server, verify_export
from foundry.exporting.write import check_target, write_export
from foundry.indexing.publish import begin_version, discard_version, publish_version
from foundry.indexing.writer import IndexWriter
from foundry.locking import hold_lock
from foundry.package_names import is_taken
from foundry.progress import Reporter
from foundry.readers import read
from foundry.records import Skipped
from foundry.rendering.environment import render
from foundry.rendering.plan import plan_server
from foundry.rendering.preview import render_preview
from foundry.runtime.errors import ServerError
from foundry.runtime.hybrid_index import HybridIndex
from foundry.runtime.index import Index, resolve_version, verify_files
from foundry.runtime.layout import Manifest
from foundry.sources import iterate
from foundry.sources.estimate import estimate


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build did. `seconds` is wall time; `unchanged` means that nothing was published."""

    index: str
    version: str
    documents: int
    chunks: int
    skipped: dict[str, int]
    seconds: float
    unchanged: bool


def init(project: Path, source: Path) -> Path:
    """Write a commented foundry.toml that builds as it is; returns its path."""
    file = project / CONFIG_NAME
    if file.exists():
        raise FoundryError(f"{file}: exists already", hint="edit it, or choose another folder")
    if not source.exists():
        raise FoundryError(f"{source}: no such folder or file", hint="name what is to be indexed")
    is_records = source.is_file()
    if is_records and source.suffix not in {".csv", ".jsonl"}:
        raise FoundryError(
            f"{source}: is one file",
            hint="name the folder that holds it, or a .csv or .jsonl table",
        )
    path = os.path.relpath(source.resolve(), project.resolve())
    if not path.isprintable():
        raise FoundryError(
            f"{path!r}: TOML cannot hold this name", hint="rename what is to be indexed"
        )
    project.mkdir(parents=True, exist_ok=True)
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in project.resolve().name)
    name = "-".join(words.lower().split())[:50].strip("-")
    if not name or not name[0].isalpha() or is_taken(name.replace("-", "_")):
        name = f"docs-{name}".rstrip("-")
    values = {
        "name": name,
        "package": name.replace("-", "_"),
        "title": project.resolve().name,
        "path": path,
        "is_records": is_records,
    }
    text = render("foundry.toml.jinja", values)
    # Exclusive: never through a link, never over a file that has appeared meanwhile.
    with file.open("x", encoding="utf-8") as stream:
        stream.write(text)
    return file


def build(project: Path, reporter: Reporter) -> BuildResult:
    """Read the sources, index them and publish a new version; the old one serves until then."""
    config = load_config(project)
    started = time.monotonic()
    embedder = open_embedder(config.embedding_provider)
    with hold_lock(config):
        try:
            folder = begin_version(_index_folder(config))
            try:
                manifest, report = _write_index(folder, config, embedder, reporter)
                unchanged = _intact_version(config) == manifest.version
                if not unchanged:
                    publish_version(folder)
            finally:
                discard_version(folder)
        except OSError as error:
            raise BuildError(
                f"{_index_folder(config)}: cannot be written: {error.strerror or error};"
                " the index that was published last still stands",
                hint="check the free space and the permissions of the folder",
            ) from None
    return BuildResult(
        index=str(resolve_version(_index_folder(config))),
        version=manifest.version,
        documents=manifest.documents,
        chunks=manifest.chunks,
        skipped=dict(sorted(Counter(entry["reason"] for entry in report["skipped"]).items())),
        seconds=round(time.monotonic() - started, 3),
        unchanged=unchanged,
    )


def query(project: Path, arguments: list[str]) -> str:
    """Ask the server that an export would be, rendered into `.foundry/server`; returns its output.

    `arguments` are those of the server's own `search` command.
    """
    config = load_config(project)
    _built_index(config)
    server = render_preview(config)
    done = run_server(
        server, config.package, ["search", *arguments], index_dir=_index_folder(config)
    )
    if done.returncode:
        raise FoundryError(done.stderr.strip() or f"the server exited with {done.returncode}")
    return done.stdout


def export(project: Path, output: Path | None, *, force: bool) -> Path:
    """Write the project's server as one folder that needs nothing of Foundry; returns it."""
    config = load_config(project)
    index = _built_index(config)
    target = check_target(output or config.default_export, config.root)
    with hold_lock(config):
        _check_index(index, project)
        # As the exported server will: an index of other options or versions is refused here.
        (Index if config.embedding_provider == "none" else HybridIndex).open(index)
        files = plan_server(config, _questions(config))
        write_export(target, files, index, f"{config.package}/index", force=force)
    return target


def verify(folder: Path) -> list[dict[str, object]]:
    """Check an export, or a project's index and its export if it has one."""
    if (folder / CHECKSUMS).exists() or not (folder / CONFIG_NAME).exists():
        return [verify_export(folder)]
    config = load_config(folder)
    index = _built_index(config)
    manifest = _check_index(index, folder)
    checked: list[dict[str, object]] = [{"index": str(index), "index_version": manifest.version}]
    exported = config.default_export
    return [*checked, verify_export(exported)] if exported.is_dir() else checked


def _check_index(index: Path, project: Path) -> Manifest:
    manifest = Manifest.read(index / "manifest.json")
    if findings := verify_files(index, manifest):
        raise IndexUnusableError(
            f"{index}: damaged: {'; '.join(findings)}", hint=f"foundry build {project}"
        )
    return manifest


def _write_index(
    folder: Path, config: Config, embedder: Embedder | None, reporter: Reporter
) -> tuple[Manifest, dict[str, Any]]:
    names = [source.name for source in config.sources]
    writer = IndexWriter(folder, language=config.language, sources=names, embedder=embedder)
    try:
        report = _read_sources(config, writer, reporter)
        if not writer.chunk_count:
            raise EmptyBuildError(
                _nothing_to_index(config, report["skipped"]),
                hint="check path, include and exclude in foundry.toml",
            )
        with reporter.step("Indexing", "chunks", writer.chunk_count) as progress:
            manifest = writer.finish(report, config_sha256=_hash_config(config))
            progress.advance(writer.chunk_count)
        return manifest, report
    finally:
        # What a full disk left in a buffer cannot be written now either.
        with suppress(OSError):
            writer.close()


def _read_sources(config: Config, writer: IndexWriter, reporter: Reporter) -> dict[str, Any]:
    skipped: list[Skipped] = []
    summaries = []
    seen: set[str] = set()
    total = sum(estimate(source) for source in config.sources)
    with reporter.step("Reading", "documents", total) as progress:
        for source in config.sources:
            documents, chunks = writer.document_count, writer.chunk_count
            for raw in iterate(source):
                progress.advance()
                document = raw if isinstance(raw, Skipped) else read(raw)
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
    return {"sources": summaries, "skipped": [asdict(entry) for entry in skipped]}


def _nothing_to_index(config: Config, skipped: list[dict[str, str]]) -> str:
    reasons = Counter(entry["reason"] for entry in skipped)
    places = ", ".join(str(source.path) for source in config.sources)
    listed = "".join(f"\n  {count} x {reason}" for reason, count in reasons.most_common())
    return f"no documents to index in {places}{listed}"


def _index_folder(config: Config) -> Path:
    return config.state / "index"


def _built_index(config: Config) -> Path:
    folder = _index_folder(config)
    if not (folder / "CURRENT").exists():
        raise IndexUnusableError(
            f"{config.root}: has no index yet", hint=f"build it: foundry build {config.root}"
        )
    return resolve_version(folder)


def _intact_version(config: Config) -> str | None:
    """The current version; None if there is none, or if it is damaged and must be replaced."""
    try:
        return _check_index(_built_index(config), config.root).version
    except (FoundryError, ServerError, OSError):
        return None


def _questions(config: Config) -> bytes | None:
    file = config.root / QUESTIONS_NAME
    return file.read_bytes() if file.is_file() else None


def _hash_config(config: Config) -> str:
    """Over everything that decides the index; paths as they stand relative to the project."""
    values = {
        "language": config.language,
        "chunking": asdict(config.chunking),
        "embedding": config.embedding_provider,
        "sources": [_source_values(source, config.root) for source in config.sources],
    }
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _source_values(source: Source, root: Path) -> dict[str, object]:
    kind = "folder" if isinstance(source, FolderSource) else "records"
    return {**asdict(source), "path": os.path.relpath(source.path, root), "type": kind}
