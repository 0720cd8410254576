"""The order of a build.

survey      By names and stamps alone: is all as it was when the published index was made? Then
            nothing is opened, and nothing more is done (`documents.unchanged`).
collect     Each document comes out of the cache, or is prepared (`documents.preparer`): read,
            split, its terms counted, embedded if that is by the built-in table; in worker processes
            of this machine, or of many (`engines`). What depends on one document alone belongs
            there; options that decide it belong into `Recipe`.
assemble    The prepared documents, in the sources' order, one at a time (`corpus`). What depends on
            several documents belongs there. Where nothing about a document has changed, it is taken
            over from the index before (`corpus.carrying`, `indexing.carried`).
write       Vectors by a model, the lanes, the query encoder, the manifest; and publish.

An index depends on the sources and the configuration alone: from the cache come the same bytes as
from reading everything again. All options decide it that `config.changes.EXEMPT` does not name.
"""

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import replace
from typing import Any, TypeVar

from foundry.build.corpus.assembling import count_reasons
from foundry.build.documents.cache import CACHE_NAME, DocumentCache
from foundry.build.documents.inputs import Inputs, collect_inputs
from foundry.build.documents.recipe import Recipe
from foundry.build.documents.unchanged import index_state, survey
from foundry.build.engines import Engine, closing_engine
from foundry.build.request import BuildOptions, BuildPlan, BuildResult, Changes
from foundry.build.writing import Draft, assemble, check, opened_writer, write_index
from foundry.config.changes import record_config
from foundry.config.project import Config
from foundry.embedding.embedder import Embedder
from foundry.embedding.registry import closing_embedder
from foundry.errors import BuildError
from foundry.indexing.carried import Previous, begun_carrying, leave_for_next
from foundry.indexing.versions import begun_version, built_index, intact_manifest, publish_version
from foundry.key_value import CacheDamagedError
from foundry.progress import Reporter
from foundry.runtime.index.layout import Manifest
from foundry.runtime.retrieval.hybrid import DenseManifest
from foundry.sources import estimate, fetch_all

CARRIED = "carried"
"""The folder of what a build leaves for the next."""

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
        gone = inputs.gone(cache)
        changes = _changes(inputs, len(gone), inputs.embedded)
        if found := _published_from(config, cache, inputs.digest):
            return _unchanged(config, found, changes, started, options)
        state = index_state(config, "")
        published = intact_manifest(config)
        carried = config.state / CARRIED
        with begun_version(config) as folder, begun_carrying(carried) as left:
            previous = None
            if published is not None and not options.fresh:
                previous = Previous.open(built_index(config), published, carried, state)
            draft = Draft(folder, left, previous)
            written = write_index(draft, config, inputs, cache, embedder, reporter, options)
            is_unchanged = published is not None and published.version == written.manifest.version
            if not is_unchanged:
                publish_version(folder)
            leave_for_next(left, carried, state, written.manifest.version)
    record_config(config)
    cache.remove(gone)
    cache.keep_published(f"{index_state(config, inputs.digest)} {written.manifest.version}")
    changes = replace(changes, embedded=changes.embedded + written.embedded)
    return _result(config, written.manifest, written.report, changes, started, is_unchanged)


def _plan(
    config: Config, cache: DocumentCache, engine: Engine, reporter: Reporter, options: BuildOptions
) -> BuildPlan:
    # Imported when needed, as most builds train nothing.
    from foundry.embedding.distil.known_items import QUESTIONS

    recipe = Recipe.of(config)
    total = survey(config.sources, cache, recipe.key).documents
    with _opened_embedder(config, reporter, engine) as embedder, begun_version(config) as folder:
        inputs = _collect(config, recipe, cache, reporter, engine, total)
        draft = Draft(folder)
        with opened_writer(draft, config) as writer:
            report = assemble(draft, config, inputs, cache, writer, None, reporter, options)
            needed = None if embedder is None else writer.estimate(embedder)
            embedded = inputs.embedded if needed is None else needed.to_embed
            asks = needed is not None and config.embedding.query != "same"
            return BuildPlan(
                documents=writer.document_count,
                chunks=writer.chunk_count,
                changes=_changes(inputs, len(inputs.gone(cache)), embedded),
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


def _changes(inputs: Inputs, gone: int, embedded: int) -> Changes:
    return Changes(inputs.read, inputs.reused, gone, embedded, inputs.seconds, dict(inputs.traffic))


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
    check(report, options)
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
        queries=dense.query if (dense := DenseManifest.of(manifest)) else None,
        seconds=round(time.monotonic() - started, 3),
        unchanged=is_unchanged,
        report=report,
    )
