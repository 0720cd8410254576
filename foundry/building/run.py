"""The order of a build.

survey      Compares names and stamps with the published index. If nothing has changed, no document
            is opened and the build ends (`documents.unchanged`).
collect     Takes each document from the cache or prepares it (`documents.preparer`): reads, splits,
            counts terms, and embeds if the model is the built-in table; in worker processes of this
            machine or of several (`engines`). Everything that depends on one document alone is
            done here; the options that decide it are in `Recipe`.
assemble    Adds the prepared documents in the sources' order (`corpus`). Everything that depends on
            several documents is done here. A document for which nothing has changed is copied
            from the previous index (`corpus.input_table`, `indexing.carried`).
write       Writes the vectors of a model, the lanes, the query encoder and the manifest; publishes.

An index depends on the sources and the configuration alone: a build from the cache gives the same
bytes as one that reads everything again. Every option affects the index unless
`config.changes.EXEMPT` lists it.
"""

import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from foundry.building.corpus.assembling import add_documents
from foundry.building.documents.cache import CACHE_NAME, DocumentCache
from foundry.building.documents.inputs import Inputs, collect_inputs
from foundry.building.documents.recipe import Keys, Recipe
from foundry.building.documents.unchanged import Survey, index_state, survey
from foundry.building.engines import Engine, closing_engine
from foundry.building.options import BuildOptions, BuildResult, Changes
from foundry.building.report import count_reasons, without_secrets
from foundry.building.report_text import check_strictly, check_words
from foundry.config.changes import hash_config, record_config
from foundry.config.project import Config
from foundry.embedding.embedder import Embedder, QueryFigures
from foundry.embedding.registry import closing_embedder
from foundry.embedding.static import StaticEmbedder
from foundry.errors import BuildError
from foundry.fetching.addresses import Policy
from foundry.indexing.carried.carried import Carried, carrying
from foundry.indexing.versions import (
    BuiltIndex,
    begun_version,
    built_index,
    intact_index,
    publish_version,
    remove_older,
)
from foundry.indexing.writer import IndexWriter
from foundry.progress import Reporter
from foundry.runtime.index.layout import Manifest
from foundry.runtime.retrieval.embedding.probe import DenseManifest
from foundry.sources import fetch_all
from foundry.state.key_value import CacheDamagedError

HANDOVER = "handover"
"""The folder of data that a build leaves for the next one."""

Outcome = TypeVar("Outcome")


def build_index(config: Config, reporter: Reporter, options: BuildOptions) -> BuildResult:
    """Update the published index; the caller holds the project's lock. Raises FoundryError."""
    path = config.state / CACHE_NAME
    with closing_engine(options) as engine, ThreadPoolExecutor(1) as thread:
        # This reads the whole index, which takes as long as surveying the sources.
        published = thread.submit(intact_index, config)
        for _ in range(2):
            with closing(DocumentCache(path)) as cache:
                if options.fresh:
                    cache.clear()
                # If the cache is damaged, the build begins again with an empty one.
                with suppress(CacheDamagedError):
                    built = _Build(config, reporter, options, engine, cache, published)
                    return built.build(thread)
    raise BuildError(f"{path}: was damaged twice during this build", hint="check the disk")


@dataclass(frozen=True, slots=True)
class _Build:
    config: Config
    reporter: Reporter
    options: BuildOptions
    engine: Engine
    cache: DocumentCache
    published: Future[BuiltIndex | None]
    started: float = field(default_factory=time.monotonic)

    def build(self, thread: ThreadPoolExecutor) -> BuildResult:
        config, cache = self.config, self.cache
        recipe = Recipe.of(config)
        keys = recipe.keys()
        surveyed = survey(config.sources, cache, keys)
        if surveyed.digest is not None and (found := self._published_from(surveyed.digest)):
            return self._unchanged(found, Changes(reused=surveyed.documents))
        with self._opened_embedder() as embedder:
            inputs = self._collect(recipe, keys, surveyed)
            gone = inputs.gone(cache)
            if found := self._published_from(inputs.digest):
                return self._unchanged(found, _changes(inputs, len(gone), inputs.embedded))
            state = index_state(config, "")
            published, left = self.published.result(), config.state / HANDOVER
            before = None if self.options.fresh or published is None else published.folder
            with begun_version(config) as folder, carrying(left, state, before) as carried:
                with self._opened_writer(folder, carried) as writer:
                    manifest, report, asked = self._write(writer, inputs, embedder, carried)
                is_unchanged = (
                    published is not None and published.manifest.version == manifest.version
                )
                if not is_unchanged:
                    thread.submit(remove_older, publish_version(folder, config.state).parent)
                carried.finish(left, state, manifest.version)
        record_config(config)
        cache.remove(gone)
        cache.keep_published(f"{index_state(config, inputs.digest)} {manifest.version}")
        changes = _changes(inputs, len(gone), inputs.embedded + asked)
        return self._result(manifest, report, changes, is_unchanged=is_unchanged)

    def _collect(self, recipe: Recipe, keys: Keys, surveyed: Survey) -> Inputs:
        config, step = self.config, self.reporter.step
        sources, fetched = fetch_all(
            config.sources, config.state, step, Policy.parse(self.options.allow_private)
        )
        total = surveyed.documents + sum(map(len, fetched.sources.values()))
        with step("Reading", "documents", total) as progress:
            pool = self.engine.open_pool(recipe, progress)
            inputs = collect_inputs(
                sources, surveyed.found, fetched.coverage, keys, self.cache, pool, progress
            )
        inputs.traffic = fetched.traffic
        return inputs

    def _opened_embedder(self) -> AbstractContextManager[Embedder | None]:
        config = self.config
        return closing_embedder(
            config.embedding,
            config.project.language,
            config.root,
            config.state,
            self.reporter.step,
            self.engine.place,
            weighs_by_corpus=not config.has_own_statistics,
        )

    @contextmanager
    def _opened_writer(self, folder: Path, carried: Carried) -> Iterator[IndexWriter]:
        """Open the writer of an index, and close its files at the end."""
        writer = IndexWriter(
            folder,
            language=self.config.project.language,
            sources=[source.name for source in self.config.sources],
            options=self.config.index,
            carried=carried,
        )
        try:
            yield writer
        finally:
            # If the disk is full, buffered data cannot be written now either.
            with suppress(OSError):
                writer.close()

    def _write(
        self,
        writer: IndexWriter,
        inputs: Inputs,
        embedder: Embedder | None,
        carried: Carried,
    ) -> tuple[Manifest, dict[str, Any], int]:
        """Write an index of all inputs.

        Returns its manifest, its report, and the number of chunks that a model has embedded. Raises
        EmptyBuildError if there are no documents, StrictBuildError if a strict build left anything
        out or found possible secrets, and LostWordsError if too many words are unaccounted for.
        """
        step, asked = self.reporter.step, 0
        static = embedder if isinstance(embedder, StaticEmbedder) else None
        with step("Assembling", "documents", len(inputs)) as progress:
            report = add_documents(
                inputs, self.cache, writer, self.config, static, progress, carried
            )
        if inputs.coverage:
            report["coverage"] = inputs.coverage
        # These checks come before any call of a model, which may cost money.
        self._check(report)
        check_words(report, self.config.build.max_unaccounted)
        if embedder is not None:
            if not isinstance(embedder, StaticEmbedder):
                writer.embed(embedder, step)
                # Read now, since the model also embeds queries later.
                asked = embedder.embedded
            report["refused"] = without_secrets(embedder.refusals())
            self._check(report)
        with step("Indexing", "chunks", writer.chunk_count) as progress:
            writer.write_lanes()
            progress.advance(writer.chunk_count)
        if embedder is not None:
            writer.make_query_encoder(embedder, step)
        return writer.finish(report, config_sha256=hash_config(self.config)), report, asked

    def _check(self, report: Mapping[str, Any]) -> None:
        if self.options.strict:
            check_strictly(report)

    def _published_from(self, digest: str) -> BuiltIndex | None:
        """Return the published index if it was built from exactly this state and is intact."""
        state, _, version = (self.cache.published or "").partition(" ")
        if state != index_state(self.config, digest):
            return None
        index = self.published.result()
        return index if index and index.manifest.version == version else None

    def _unchanged(self, index: BuiltIndex, changes: Changes) -> BuildResult:
        report = json.loads((index.folder / "report.json").read_bytes())
        self._check(report)
        check_words(report, self.config.build.max_unaccounted)
        return self._result(index.manifest, report, changes, is_unchanged=True)

    def _result(
        self, manifest: Manifest, report: dict[str, Any], changes: Changes, *, is_unchanged: bool
    ) -> BuildResult:
        dense = manifest.dense and DenseManifest(**manifest.dense)
        return BuildResult(
            index=str(built_index(self.config).folder),
            version=manifest.version,
            documents=manifest.documents,
            chunks=manifest.chunks,
            changes=changes,
            skipped=count_reasons(report),
            refused=len(report.get("refused", ())),
            queries=QueryFigures(**dense.query) if dense else None,
            seconds=round(time.monotonic() - self.started, 3),
            unchanged=is_unchanged,
            report=report,
        )


def _changes(inputs: Inputs, gone: int, embedded: int) -> Changes:
    return Changes(
        inputs.read,
        inputs.reused,
        gone,
        embedded,
        inputs.outdated,
        inputs.seconds,
        dict(inputs.traffic),
    )
