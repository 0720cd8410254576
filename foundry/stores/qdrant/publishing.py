"""Publishes an index into Qdrant, step by step: what it lacks is loaded, then it is switched.

Rows that a version adds are there since a number that no version has yet, and those that it no
longer has until then, so nobody notices. When they have been counted, and answers compared, one
write of the version's marker makes it the current one. A publication that ended before that is
continued: what it has loaded is found again by its keys and codes.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient, models

from foundry.errors import PublishError
from foundry.progress import Reporter
from foundry.runtime.store.qdrant.client import (
    open_client,
    plays_engine,
    translated,
    whole_seconds,
)
from foundry.runtime.store.qdrant.engine import MakeRequests, QdrantEngine
from foundry.runtime.store.qdrant.rows import UNTIL, HeldVersion, parse_row_id, rows_of
from foundry.runtime.store.settings import StoreSettings
from foundry.runtime.store.store import Edition, StoreError
from foundry.stores.checking import Agreement, Outcome, compare_lanes
from foundry.stores.content import Content, batches
from foundry.stores.differing import (
    Difference,
    Held,
    bucket_shift,
    find_difference,
    sum_buckets,
)
from foundry.stores.options import AGAIN, STEP_QUESTIONS, PublishOptions
from foundry.stores.qdrant.collection import Collection, Marker, after, in_buckets
from foundry.stores.qdrant.points import Points
from foundry.stores.rows import Rows

BATCH_IDS = 10_000
"""Rows that are named in one request."""

BATCH_BUCKETS = 256
"""Buckets whose rows are asked for at once."""

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


class _Unpublished(QdrantEngine):
    """Searches in a version that has no marker yet."""

    def __init__(self, client: QdrantClient, settings: StoreSettings, held: HeldVersion) -> None:
        super().__init__(client, settings, is_local=plays_engine())
        self._held = held

    def ask(self, edition: Edition, make: MakeRequests) -> list[list[models.ScoredPoint]]:
        """Return the points that answer requests, asked all at once."""
        return self.query(edition, make(self._held))


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A version whose rows are there; `added` are chunks that are new."""

    marker: Marker
    added: NDArray[np.int64]
    is_step: bool


def publish(
    content: Content, settings: StoreSettings, reporter: Reporter, options: PublishOptions
) -> Outcome:
    """Load what is missing, count, compare, write the marker, then remove what is old.

    Whatever interrupts it, the version published before goes on being the current one, and the
    next publication goes on with what has been loaded. Raises PublishError, or BusyError where
    another publication into the same collection begins meanwhile.
    """
    rows = Rows.open(content)
    patient = StoreSettings(settings.name, settings.exact, CALL_SECONDS)
    client = open_client(patient)
    try:
        with _explained(settings.name), translated(content.version):
            collection = Collection(client, settings.name, whole_seconds(settings))
            collection.prepare(content.vectors.shape[1])
            collection.settle()
            markers = collection.markers()
            known = [each for each in markers if each.version == content.version]
            if known and not options.again:
                marker = collection.with_buckets(known[0])
                loaded = _Loaded(marker, np.zeros(0, dtype=np.int64), is_step=True)
            else:
                tip = collection.with_buckets(markers[-1]) if markers else None
                loaded = _load(collection, rows, tip, reporter, again=options.again)
            _check_count(collection, loaded.marker)
            if not settings.exact:
                _prepare_graph(collection, reporter)
            agreement = _compare(content, client, patient, loaded, reporter)
            collection.check_claim()
            _switch(collection, markers, loaded.marker, agreement)
            dropped = _drop_stale(collection, options.grace)
    finally:
        client.close()
    return Outcome(not known or options.again, agreement, tuple(dropped))


def _load(
    collection: Collection, rows: Rows, tip: Marker | None, reporter: Reporter, *, again: bool
) -> _Loaded:
    """Load the rows that are missing since the last version, the `tip`; with `again` all."""
    last = 0 if tip is None else tip.held.number
    points = Points.of(rows, {} if tip is None else tip.held.moved)
    # What was retired for a version that never was, or is no longer there, is there again.
    collection.revive(last)
    left = list(collection.rows(after(last)))
    ids: list[str] = []

    def fetch(buckets: list[int]) -> Held:
        found = [*_in_tip(collection, tip, buckets), *left]
        ids.extend(row for row, _ in found)
        keys = [parse_row_id(row)[0] for row in ids]
        codes = [code for _, code in found]
        return Held.of(list(zip(range(len(ids)), keys, codes, strict=True)))

    if again:
        fetch([])
        everything = np.arange(len(rows)), np.arange(len(ids))
        difference = Difference(*everything, shares_any=False)
    else:
        theirs = [] if tip is None else tip.buckets
        shift = bucket_shift(len(rows)) if tip is None else tip.shift
        difference = find_difference(rows.keys, points.codes, theirs, shift, fetch)
    surplus = [ids[row] for row in difference.surplus.tolist()]
    is_left = [parse_row_id(row)[1] > last for row in surplus]
    number = max([last + 1, *(parse_row_id(row)[1] for row, _ in left)])
    _remove(collection, [row for row, own in zip(surplus, is_left, strict=True) if own])
    added = difference.missing
    with reporter.step("Loading", "chunks", len(added)) as progress:
        for batch in points.make(added, number):
            collection.check_claim()
            collection.client.upsert(collection.name, batch, wait=True)
            progress.advance(len(batch))
    retired = [row for row, own in zip(surplus, is_left, strict=True) if not own]
    _retire(collection, last, retired, number, whole=not difference.shares_any)
    shift = bucket_shift(len(rows))
    marker = Marker(
        rows.content.version,
        HeldVersion(number, dict(points.moved)),
        len(rows),
        recall=0.0,
        switched=0.0,
        shift=shift,
        buckets=sum_buckets(rows.keys, points.codes, shift),
    )
    return _Loaded(marker, added, difference.shares_any and 2 * len(added) < len(rows))


def _in_tip(
    collection: Collection, tip: Marker | None, buckets: list[int]
) -> Iterator[tuple[str, int]]:
    """Yield ids and codes of the rows that the last version has in some buckets."""
    if tip is None:
        return
    for part in batches(len(buckets), BATCH_BUCKETS):
        condition = in_buckets(buckets[part], tip.shift)
        yield from collection.rows(rows_of(tip.held.number, condition))


def _remove(collection: Collection, rows: Sequence[str]) -> None:
    """Remove what publications have left behind, and this one does not need."""
    for part in batches(len(rows), BATCH_IDS):
        selected = models.PointIdsList(points=list(rows[part]))
        collection.client.delete(collection.name, selected, wait=True)


def _retire(
    collection: Collection, last: int, rows: Sequence[str], number: int, *, whole: bool
) -> None:
    """Say of rows of the last version that they are there until this one; or of the `whole`."""
    collection.check_claim()
    client, name = collection.client, collection.name
    if whole:
        client.set_payload(name, {UNTIL: number}, rows_of(last), wait=True)
        return
    for part in batches(len(rows), BATCH_IDS):
        client.set_payload(name, {UNTIL: number}, list(rows[part]), wait=True)


def _check_count(collection: Collection, marker: Marker) -> None:
    count = collection.count(marker.held.number)
    if count != marker.chunks:
        raise PublishError(
            f"Qdrant, {collection.name}: {count:,} rows of index {marker.version}, expected"
            f" {marker.chunks:,}; nothing was switched",
            hint=AGAIN,
        )


def _prepare_graph(collection: Collection, reporter: Reporter) -> None:
    client, name = collection.client, collection.name
    client.update_collection(
        name, hnsw_config=models.HnswConfigDiff(m=GRAPH_LINKS, ef_construct=GRAPH_DEPTH)
    )
    with reporter.step("Linking", "graphs", 1) as progress:
        limit = time.monotonic() + INDEXING_SECONDS
        looks = 0
        while looks < SETTLED_LOOKS:
            status = client.get_collection(name).status
            if status == models.CollectionStatus.RED or time.monotonic() > limit:
                raise PublishError(
                    f"Qdrant, {name}: its graph is not finished, and the collection is"
                    f" {status.value}; nothing was switched",
                    hint="see the log of the engine, then publish again",
                )
            looks = looks + 1 if status == models.CollectionStatus.GREEN else 0
            time.sleep(LOOK_SECONDS)
        progress.advance()


def _compare(
    content: Content,
    client: QdrantClient,
    settings: StoreSettings,
    loaded: _Loaded,
    reporter: Reporter,
) -> Agreement:
    with reporter.step("Comparing", "engines", 1) as progress:
        agreement = compare_lanes(
            content,
            _Unpublished(client, settings, loaded.marker.held),
            exact=settings.exact,
            most=STEP_QUESTIONS if loaded.is_step else None,
            near=loaded.added,
        )
        progress.advance()
    return agreement


def _switch(
    collection: Collection, markers: Sequence[Marker], marker: Marker, agreement: Agreement
) -> None:
    """Write the marker: from now on the version is there, and the current one."""
    current = max(markers, key=lambda each: each.switched, default=None)
    if current is not None and current.held == marker.held:
        return
    # Clocks may differ; the order of switches decides.
    latest = 0.0 if current is None else current.switched
    moment = max(time.time(), latest + 1e-3)
    collection.mark(replace(marker, recall=agreement.recall, switched=moment))


def _drop_stale(collection: Collection, grace: float) -> list[str]:
    """Drop versions in whose place another has been for long enough, and what only they need."""
    markers = sorted(collection.markers(), key=lambda marker: marker.switched)
    # Each was superseded by the next, when that was switched to.
    stale = [
        marker
        for marker, successor in pairwise(markers)
        if successor.switched <= time.time() - grace
    ]
    collection.drop(stale)
    collection.settle()
    return sorted(marker.version for marker in stale)


@contextmanager
def _explained(name: str) -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise PublishError(
            f"Qdrant, {name}: {error.message}; nothing was switched",
            hint="start it, or correct QDRANT_URL and QDRANT_API_KEY; then publish again",
        ) from None
