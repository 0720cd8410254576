"""The order of a build.

survey      By names and stamps alone: is all as it was when the published index was made? Then
            nothing is opened, and nothing more is done (`documents.unchanged`).
collect     Each document comes out of the cache, or is prepared (`documents.preparer`): read,
            split, its terms counted, embedded if that is by the built-in table; in worker processes
            of this machine, or of many (`engines`). What depends on one document alone belongs
            there; options that decide it belong into `Recipe`.
assemble    The prepared documents, in the sources' order, one at a time (`corpus`). What depends on
            several documents belongs there.
write       Vectors by a model, the lanes, the query encoder, the manifest; and publish.

An index depends on the sources and the configuration alone: from the cache come the same bytes as
from reading everything again. All options decide it that `config.changes.EXEMPT` does not name.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from foundry.build.corpus.assembling import add_documents, count_reasons
from foundry.build.documents.cache import CACHE_NAME, DocumentCache
from foundry.build.documents.inputs import Inputs, collect_inputs
from foundry.build.documents.recipe import Recipe
from foundry.build.documents.unchanged import index_state, survey
from foundry.build.engines import Engine, closing_engine
from foundry.build.report import check_strictly, without_secrets
from foundry.build.request import BuildOptions, BuildPlan, BuildResult, Changes
from foundry.config.changes import hash_config, record_config
from foundry.config.project import Config
from foundry.embedding.distil.known_items import QUESTIONS
from foundry.embedding.embedder import Embedder
from foundry.embedding.registry import closing_embedder
from foundry.embedding.static import StaticEmbedder
from foundry.errors import BuildError
from foundry.indexing.versions import begun_version, built_index, intact_manifest, publish_version
from foundry.indexing.writer import IndexWriter
from foundry.key_value import CacheDamagedError
from foundry.progress import Reporter
from foundry.runtime.index.layout import Manifest
from foundry.sources import estimate, fetch_all

Outcome = TypeVar("Outcome")


def build_index(config: Config, reporter: Reporter, options: BuildOptions) -> BuildResult:
    """Bring the published index up to date; the caller holds the project's lock."""
    with closing_engine(options) as engine:
        return _with_cache(
            config, options, lambda cache: _build(config, cache, engine, reporter, options)
        )


def plan_build(config: Config, reporter: Reporter, options: BuildOptions) -> BuildPlan:
    """Read and split everything that has changed, and count; nothing of it is kept."""
    with closing_engine(options) as engine:
        return _with_cache(
            config,
            options,
            lambda cache: _plan(config, cache, engine, reporter, options),
            keeps_nothing=True,
        )


def _build(
    config: Config, cache: DocumentCache, engine: Engine, reporter: Reporter, options: BuildOptions
) -> BuildResult:
    started = time.monotonic()
    recipe = Recipe.of(config)
    surveyed = survey(config.sources, cache, recipe.key)
    if surveyed.digest is not None and (found := _published_from(config, cache, surveyed.digest)):
        changes = Changes(reused=surveyed.documents)
        return _unchanged(config, found, changes, started, options)
    with _opened_embedder(config, reporter, engine) as embedder:
        inputs = _collect(config, recipe, cache, reporter, engine, surveyed.documents)
        changes = _changes(inputs, cache, inputs.embedded)
        if found := _published_from(config, cache, inputs.digest):
            return _unchanged(config, found, changes, started, options)
        with begun_version(config) as folder:
            written = _write_index(folder, config, inputs, cache, embedder, reporter, options)
            published = intact_manifest(config)
            is_unchanged = published is not None and published.version == written.manifest.version
            if not is_unchanged:
                publish_version(folder)
    record_config(config)
    cache.remove(inputs.gone(cache))
    cache.keep_published(f"{index_state(config, inputs.digest)} {written.manifest.version}")
    changes = replace(changes, embedded=changes.embedded + written.embedded)
    return _result(config, written.manifest, written.report, changes, started, is_unchanged)


def _plan(
    config: Config, cache: DocumentCache, engine: Engine, reporter: Reporter, options: BuildOptions
) -> BuildPlan:
    recipe = Recipe.of(config)
    total = survey(config.sources, cache, recipe.key).documents
    with _opened_embedder(config, reporter, engine) as embedder, begun_version(config) as folder:
        inputs = _collect(config, recipe, cache, reporter, engine, total)
        with _opened_writer(folder, config) as writer:
            report = _assemble(config, inputs, cache, writer, None, reporter, options)
            needed = None if embedder is None else writer.estimate(embedder)
            embedded = inputs.embedded if needed is None else needed.to_embed
            asks = needed is not None and config.embedding.query != "same"
            return BuildPlan(
                documents=writer.document_count,
                chunks=writer.chunk_count,
                changes=_changes(inputs, cache, embedded),
                skipped=count_reasons(report),
                embedding=needed,
                training_texts=config.embedding.distillation_texts + QUESTIONS if asks else 0,
            )


def _collect(
    config: Config,
    recipe: Recipe,
    cache: DocumentCache,
    reporter: Reporter,
    engine: Engine,
    total: int,
) -> Inputs:
    sources, coverage, traffic = fetch_all(config.sources, config.state, reporter.step)
    if coverage:
        total = sum(estimate(source) for source in sources)
    with reporter.step("Reading", "documents", total) as progress:
        pool = engine.open_pool(recipe)
        inputs = collect_inputs(sources, coverage, recipe, cache, pool, progress)
    inputs.traffic = traffic
    return inputs


@dataclass(frozen=True, slots=True)
class _Written:
    """An index that has been written; `embedded` counts texts that a model embedded for it."""

    manifest: Manifest
    report: dict[str, Any]
    embedded: int


def _write_index(
    folder: Path,
    config: Config,
    inputs: Inputs,
    cache: DocumentCache,
    embedder: Embedder | None,
    reporter: Reporter,
    options: BuildOptions,
) -> _Written:
    with _opened_writer(folder, config) as writer:
        report = _assemble(config, inputs, cache, writer, embedder, reporter, options)
        embedded = 0
        if embedder is not None:
            if not isinstance(embedder, StaticEmbedder):
                with reporter.step("Embedding", "chunks", writer.chunk_count) as progress:
                    writer.embed(embedder, progress.advance)
                embedded = embedder.embedded
            report["refused"] = without_secrets(embedder.refusals())
            _check(report, options)
        with reporter.step("Indexing", "chunks", writer.chunk_count) as progress:
            writer.write_lanes()
            progress.advance(writer.chunk_count)
        if embedder is not None:
            writer.make_query_encoder(embedder)
            if embedder.known_items is not None:
                report["known_items"] = asdict(embedder.known_items)
        manifest = writer.finish(report, config_sha256=hash_config(config))
        return _Written(manifest, report, embedded)


def _assemble(
    config: Config,
    inputs: Inputs,
    cache: DocumentCache,
    writer: IndexWriter,
    embedder: Embedder | None,
    reporter: Reporter,
    options: BuildOptions,
) -> dict[str, Any]:
    observe = embedder.observe if isinstance(embedder, StaticEmbedder) else None
    with reporter.step("Assembling", "documents", len(inputs)) as progress:
        report = add_documents(inputs, cache, writer, config, observe, progress)
    # Before a model is asked for anything.
    _check(report, options)
    return {**report, "coverage": inputs.coverage} if inputs.coverage else report


def _check(report: Mapping[str, Any], options: BuildOptions) -> None:
    if options.strict:
        check_strictly(report)


def _changes(inputs: Inputs, cache: DocumentCache, embedded: int) -> Changes:
    gone = len(inputs.gone(cache))
    return Changes(inputs.read, inputs.reused, gone, embedded, inputs.seconds, dict(inputs.traffic))


@contextmanager
def _opened_writer(folder: Path, config: Config) -> Iterator[IndexWriter]:
    names = [source.name for source in config.sources]
    language = config.project.language
    writer = IndexWriter(folder, language=language, sources=names, options=config.index)
    try:
        yield writer
    finally:
        # What a full disk left in a buffer cannot be written now either.
        with suppress(OSError):
            writer.close()


def _opened_embedder(
    config: Config, reporter: Reporter, engine: Engine
) -> AbstractContextManager[Embedder | None]:
    return closing_embedder(
        config.embedding,
        config.project.language,
        config.root,
        config.state,
        reporter.step,
        engine.place,
    )


def _with_cache(
    config: Config,
    options: BuildOptions,
    work: Callable[[DocumentCache], Outcome],
    *,
    keeps_nothing: bool = False,
) -> Outcome:
    """Work with the project's cache; begin again where it turns out to be damaged."""
    path = config.state / CACHE_NAME
    for _ in range(2):
        with closing(DocumentCache(path, keeps_nothing=keeps_nothing)) as cache:
            if options.fresh:
                cache.clear()
            with suppress(CacheDamagedError):
                return work(cache)
    raise BuildError(f"{path}: is damaged again and again", hint="check the disk")


def _published_from(config: Config, cache: DocumentCache, digest: str) -> Manifest | None:
    """Return the manifest of the published index, if it was made from just this and is intact."""
    state, _, version = (cache.published or "").partition(" ")
    if state != index_state(config, digest):
        return None
    manifest = intact_manifest(config)
    return manifest if manifest and manifest.version == version else None


def _unchanged(
    config: Config, manifest: Manifest, changes: Changes, started: float, options: BuildOptions
) -> BuildResult:
    report = json.loads((built_index(config) / "report.json").read_bytes())
    _check(report, options)
    return _result(config, manifest, report, changes, started, is_unchanged=True)


def _result(
    config: Config,
    manifest: Manifest,
    report: dict[str, Any],
    changes: Changes,
    started: float,
    is_unchanged: bool,
) -> BuildResult:
    return BuildResult(
        index=str(built_index(config)),
        version=manifest.version,
        documents=manifest.documents,
        chunks=manifest.chunks,
        changes=changes,
        skipped=count_reasons(report),
        refused=len(report.get("refused", ())),
        queries=manifest.dense.query if manifest.dense else None,
        seconds=round(time.monotonic() - started, 3),
        unchanged=is_unchanged,
        report=report,
    )
