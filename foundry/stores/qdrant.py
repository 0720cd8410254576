"""Publishes an index into Qdrant: a new collection, compared and counted, then the alias moves."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from qdrant_client import QdrantClient, models

from foundry.errors import PublishError
from foundry.progress import Reporter
from foundry.runtime.index.layout import open_array
from foundry.runtime.retrieval.filters import UNKNOWN_TIME, encode_value
from foundry.runtime.store.qdrant import FORMAT, QdrantEngine
from foundry.runtime.store.qdrant_client import open_client, plays_engine, translated
from foundry.runtime.store.qdrant_filters import MARKS, MODIFIED, PATHS
from foundry.runtime.store.qdrant_requests import DENSE, SPARSE
from foundry.runtime.store.settings import StoreSettings
from foundry.runtime.store.store import StoreError
from foundry.stores.checking import Agreement, Outcome, compare_lanes
from foundry.stores.content import Content, batches
from foundry.stores.options import AGAIN, PublishOptions
from foundry.stores.rows import Marks

BATCH_POINTS = 256
"""Points that are handed over together."""

CALL_SECONDS = 60.0
"""Seconds that one call of a publication may take."""

INDEXING_SECONDS = 3600.0
"""The engine has this many seconds to finish a graph, and is asked every LOOK_SECONDS."""

LOOK_SECONDS = 1.0

SETTLED_LOOKS = 3
"""A graph counts as finished after being green this often in a row, as it starts a moment late."""

GRAPH_LINKS = 32
GRAPH_DEPTH = 256
"""Links of a point in the graph (m), and candidates for them (ef_construct)."""

_PATH = encode_value("path", "")


def publish(
    content: Content, settings: StoreSettings, reporter: Reporter, options: PublishOptions
) -> Outcome:
    """Load into a collection of its own, count, compare, move the alias, drop what is old.

    A collection that is not finished says so, and the next publication loads it from the start.
    Raises PublishError.
    """
    patient = StoreSettings(settings.name, settings.exact, CALL_SECONDS)
    client = open_client(patient)
    try:
        with _explained(settings.name), translated(content.version):
            collection = f"{settings.name}_{content.version}"
            known = _state(client, collection)
            is_whole = known.get("complete") and known.get("format") == FORMAT
            loaded = options.again or not is_whole
            if loaded:
                _load(client, collection, content, reporter)
            _check_count(client, collection, content)
            _prepare_graph(client, collection, settings, reporter)
            with reporter.step("Comparing", "engines", 1) as progress:
                agreement = compare_lanes(
                    content,
                    QdrantEngine(client, patient, is_local=plays_engine()),
                    exact=settings.exact,
                )
                progress.advance()
            _switch(client, collection, len(content.scales), settings, agreement)
            dropped = _drop_stale(client, settings.name, collection, options.grace)
    finally:
        client.close()
    return Outcome(loaded, agreement, tuple(dropped))


def _load(client: QdrantClient, collection: str, content: Content, reporter: Reporter) -> None:
    client.delete_collection(collection)
    client.create_collection(
        collection,
        vectors_config={
            DENSE: models.VectorParams(
                size=content.vectors.shape[1], distance=models.Distance.COSINE
            )
        },
        sparse_vectors_config={SPARSE: models.SparseVectorParams()},
        # No graph while points come in, and none at all where every vector is compared.
        hnsw_config=models.HnswConfigDiff(m=0),
        metadata={"complete": False, "format": FORMAT},
    )
    if not plays_engine():
        _index_payload(client, collection)
    with reporter.step("Loading", "chunks", len(content.scales)) as progress:
        for points in _points(content):
            client.upsert(collection, points, wait=True)
            progress.advance(len(points))


def _index_payload(client: QdrantClient, collection: str) -> None:
    """Index what filters ask for before there are points, so that graphs take it into account."""
    numbers = models.IntegerIndexParams(
        type=models.IntegerIndexType.INTEGER, lookup=False, range=True
    )
    words = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD)
    for key, schema in ((MARKS, words), (PATHS, numbers), (MODIFIED, numbers)):
        client.create_payload_index(collection, key, schema, wait=True)


def _points(content: Content) -> Iterator[list[models.PointStruct]]:
    terms, payloads = content.terms, _Payloads(content)
    # Postings are in the order of terms, and wanted in that of chunks.
    order = np.argsort(content.chunks, kind="stable")
    ends = np.searchsorted(content.chunks[order], np.arange(len(content.scales) + 1))
    for part in batches(len(content.scales), BATCH_POINTS):
        points = []
        for number in range(part.start, part.stop):
            own = order[ends[number] : ends[number + 1]]
            vectors: dict[str, Any] = {}
            if len(own):
                vectors[SPARSE] = models.SparseVector(
                    indices=terms[own].tolist(), values=content.impacts[own].tolist()
                )
            if content.scales[number] > 0:
                row = content.vectors[number].astype(np.float32) * content.scales[number]
                vectors[DENSE] = row.tolist()
            payload = payloads.of_chunk(number)
            points.append(models.PointStruct(id=number, vector=vectors, payload=payload))
        yield points


class _Payloads:
    """What the chunks of a version can be filtered by."""

    def __init__(self, content: Content) -> None:
        layout = content.files.layout
        self._marks = Marks.open(content)
        self._modified = open_array(layout.filter_modified, np.int64, (len(content.scales),))
        self._places = {value: place for place, value in enumerate(content.edition.values)}

    def of_chunk(self, chunk: int) -> dict[str, Any]:
        """Return the payload of a chunk."""
        marks = self._marks.of_chunk(chunk)
        paths = [mark for mark in marks if mark.startswith(_PATH)]
        payload: dict[str, Any] = {
            MARKS: [mark.decode() for mark in marks if not mark.startswith(_PATH)],
            PATHS: [self._places[path] for path in paths],
        }
        if (moment := int(self._modified[chunk])) != UNKNOWN_TIME:
            payload[MODIFIED] = moment
        return payload


def _check_count(client: QdrantClient, collection: str, content: Content) -> None:
    count = client.count(collection, exact=True).count
    if count != len(content.scales):
        raise PublishError(
            f"Qdrant, {collection}: {count:,} points, expected {len(content.scales):,};"
            " nothing was switched",
            hint=AGAIN,
        )


def _prepare_graph(
    client: QdrantClient, collection: str, settings: StoreSettings, reporter: Reporter
) -> None:
    if settings.exact:
        return
    client.update_collection(
        collection,
        hnsw_config=models.HnswConfigDiff(m=GRAPH_LINKS, ef_construct=GRAPH_DEPTH),
    )
    with reporter.step("Linking", "graphs", 1) as progress:
        limit = time.monotonic() + INDEXING_SECONDS
        looks = 0
        while looks < SETTLED_LOOKS:
            status = client.get_collection(collection).status
            if status == models.CollectionStatus.RED or time.monotonic() > limit:
                raise PublishError(
                    f"Qdrant, {collection}: its graph is not finished, and the collection is"
                    f" {status.value}; nothing was switched",
                    hint="see the log of the engine, then publish again",
                )
            looks = looks + 1 if status == models.CollectionStatus.GREEN else 0
            time.sleep(LOOK_SECONDS)
        progress.advance()


def _switch(
    client: QdrantClient,
    collection: str,
    chunks: int,
    settings: StoreSettings,
    agreement: Agreement,
) -> None:
    """Move the alias in one call; what it pointed at is superseded from now on."""
    former = {alias.alias_name: alias.collection_name for alias in client.get_aliases().aliases}
    # Recorded first: a version without a record of its end would never be dropped.
    for other in _versions(client, settings.name):
        if other != collection and _state(client, other).get("superseded") is None:
            _describe(client, other, superseded=time.time())
    state = {"complete": True, "chunks": chunks, "recall": agreement.recall, "superseded": None}
    _describe(client, collection, **state)
    operations: list[models.AliasOperations] = []
    if settings.name in former:
        delete = models.DeleteAlias(alias_name=settings.name)
        operations.append(models.DeleteAliasOperation(delete_alias=delete))
    create = models.CreateAlias(collection_name=collection, alias_name=settings.name)
    operations.append(models.CreateAliasOperation(create_alias=create))
    client.update_collection_aliases(operations)


def _drop_stale(client: QdrantClient, name: str, current: str, grace: float) -> list[str]:
    dropped = []
    for collection in _versions(client, name):
        superseded = _state(client, collection).get("superseded")
        if collection != current and superseded and superseded <= time.time() - grace:
            client.delete_collection(collection)
            dropped.append(collection.removeprefix(f"{name}_"))
    return dropped


def _versions(client: QdrantClient, name: str) -> list[str]:
    """Return the collections of this name's versions, sorted."""
    found = (collection.name for collection in client.get_collections().collections)
    version = re.compile(rf"{re.escape(name)}_[0-9a-f]{{16}}")
    return sorted(filter(version.fullmatch, found))


def _state(client: QdrantClient, collection: str) -> dict[str, Any]:
    """Return the notes of a publication on a collection; empty if there are none."""
    if not client.collection_exists(collection):
        return {}
    return client.get_collection(collection).config.metadata or {}


def _describe(client: QdrantClient, collection: str, **values: Any) -> None:
    state = {**_state(client, collection), **values}
    client.update_collection(collection, metadata=state)


@contextmanager
def _explained(name: str) -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise PublishError(
            f"Qdrant, {name}: {error.message}; nothing was switched",
            hint="start it, or correct QDRANT_URL and QDRANT_API_KEY; then publish again",
        ) from None
