"""Publishes an index into Qdrant: loads missing rows, then switches to the new version.

New rows start at a version number that no marker has yet, and retired rows end there, so searches
do not see the change. Once the rows are counted and answers compared, a single write of the
version's marker makes it current. A publication that was interrupted before that is resumed: the
rows that it loaded are recognised by their keys and codes.
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
    is_local_mode,
    open_client,
    translated,
    whole_seconds,
)
from foundry.runtime.store.qdrant.engine import MakeRequests, QdrantEngine
from foundry.runtime.store.qdrant.rows import UNTIL, HeldVersion, parse_row_id, rows_of
from foundry.runtime.store.settings import StoreSettings
from foundry.runtime.store.store import Edition, StoreError
from foundry.stores.checking import Agreement, Outcome, compare_lanes
from foundry.stores.content import Content, batches
from foundry.stores.differing import Difference, Held, bucket_shift, find_difference, sum_buckets
from foundry.stores.options import (
    AGAIN,
    INCREMENTAL_QUESTIONS,
    NOT_DROPPED,
    UNCHANGED,
    PublishOptions,
)
from foundry.stores.qdrant.collection import Collection, Marker, after, in_buckets
from foundry.stores.qdrant.points import Points
from foundry.stores.rows import Rows

BATCH_IDS = 10_000
"""Row ids per request."""

BATCH_BUCKETS = 256
"""Buckets per request for rows."""

CALL_SECONDS = 60.0
"""Timeout of one call during a publication."""

INDEXING_SECONDS = 3600.0
"""Time limit for building the graph; its status is polled every POLL_SECONDS."""

POLL_SECONDS = 1.0

GREEN_POLLS = 3
"""Successive green polls after which a graph counts as finished, since indexing starts late."""

GRAPH_LINKS = 32
GRAPH_DEPTH = 256
"""HNSW parameters: links per point (m), and candidates for them (ef_construct)."""


class _Unpublished(QdrantEngine):
    """Runs searches in a version that has no marker yet."""

    def __init__(self, client: QdrantClient, settings: StoreSettings, held: HeldVersion) -> None:
        super().__init__(client, settings, is_local=is_local_mode())
        self._held = held

    def ask(self, edition: Edition, make: MakeRequests) -> list[list[models.ScoredPoint]]:
        """Return the points for each request, in one round trip."""
        return self.query(edition, make(self._held))


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A version whose rows are all loaded; `added` are the chunks that the engine lacked.

    If the engine had most of the rows, the publication `is_incremental`.
    """

    marker: Marker
    added: NDArray[np.int64]
    is_incremental: bool


def publish(
    content: Content, settings: StoreSettings, reporter: Reporter, options: PublishOptions
) -> Outcome:
    """Load missing rows, count, compare answers, write the marker, and drop stale versions.

    If it is interrupted, the previous version stays current, and the next publication reuses the
    rows that were loaded. Raises PublishError, or BusyError if another publication into the same
    collection starts in the meantime.
    """
    rows = Rows.open(content)
    publishing = StoreSettings(settings.name, settings.exact, CALL_SECONDS)
    client = open_client(publishing)
    try:
        with _explained(settings.name), translated(content.version):
            collection = Collection(client, settings.name, whole_seconds(settings))
            collection.prepare(content.vectors.shape[1])
            collection.remove_unused()
            markers = collection.markers()
            known = [each for each in markers if each.version == content.version]
            if known and not options.again:
                marker = collection.with_buckets(known[0])
                loaded = _Loaded(marker, np.zeros(0, dtype=np.int64), is_incremental=True)
            else:
                latest = collection.with_buckets(markers[-1]) if markers else None
                loaded = _load(collection, rows, latest, reporter, again=options.again)
            _check_count(collection, loaded.marker)
            if not settings.exact:
                _prepare_graph(collection, reporter)
            agreement = _compare(content, client, publishing, loaded, reporter)
            collection.check_claim()
            _switch(collection, markers, loaded.marker, agreement)
        with _explained(settings.name, NOT_DROPPED), translated(content.version):
            dropped = _drop_stale(collection, options.grace)
    finally:
        client.close()
    return Outcome(not known or options.again, agreement, tuple(dropped))


def _load(
    collection: Collection, rows: Rows, latest: Marker | None, reporter: Reporter, *, again: bool
) -> _Loaded:
    """Load the rows that the `latest` version lacks; with `again`, all of them."""
    last = 0 if latest is None else latest.held.number
    points = Points.of(rows, {} if latest is None else latest.held.reassigned)
    # Restore rows retired for a version that was dropped, or never published.
    collection.unretire(last)
    leftover = list(collection.rows(after(last)))
    ids: list[str] = []

    def fetch(buckets: list[int]) -> Held:
        found = [*_in_latest(collection, latest, buckets), *leftover]
        ids.extend(row for row, _ in found)
        keys = [parse_row_id(row)[0] for row in ids]
        codes = [code for _, code in found]
        return Held.of(list(zip(range(len(ids)), keys, codes, strict=True)))

    if again:
        fetch([])
        everything = np.arange(len(rows)), np.arange(len(ids))
        difference = Difference(*everything, shares_any=False)
    else:
        theirs = [] if latest is None else latest.buckets
        shift = bucket_shift(len(rows)) if latest is None else latest.shift
        difference = find_difference(rows.keys, points.codes, theirs, shift, fetch)
    surplus = [ids[row] for row in difference.surplus.tolist()]
    is_leftover = [parse_row_id(row)[1] > last for row in surplus]
    number = max([last + 1, *(parse_row_id(row)[1] for row, _ in leftover)])
    _remove(collection, [row for row, own in zip(surplus, is_leftover, strict=True) if own])
    added = difference.missing
    with reporter.step("Loading", "chunks", len(added)) as progress:
        for batch in points.make(added, number):
            collection.check_claim()
            collection.client.upsert(collection.name, batch, wait=True)
            progress.advance(len(batch))
    retired = [row for row, own in zip(surplus, is_leftover, strict=True) if not own]
    _retire(collection, last, retired, number, whole=not difference.shares_any)
    shift = bucket_shift(len(rows))
    marker = Marker(
        rows.content.version,
        HeldVersion(number, dict(points.reassigned)),
        len(rows),
        recall=0.0,
        switched=0.0,
        shift=shift,
        buckets=sum_buckets(rows.keys, points.codes, shift),
    )
    return _Loaded(marker, added, difference.shares_any and 2 * len(added) < len(rows))


def _in_latest(
    collection: Collection, latest: Marker | None, buckets: list[int]
) -> Iterator[tuple[str, int]]:
    """Yield ids and codes of the latest version's rows in some buckets."""
    if latest is None:
        return
    for part in batches(len(buckets), BATCH_BUCKETS):
        condition = in_buckets(buckets[part], latest.shift)
        yield from collection.rows(rows_of(latest.held.number, condition))


def _remove(collection: Collection, rows: Sequence[str]) -> None:
    """Delete rows left by interrupted publications."""
    for part in batches(len(rows), BATCH_IDS):
        selected = models.PointIdsList(points=list(rows[part]))
        collection.client.delete(collection.name, selected, wait=True)


def _retire(
    collection: Collection, last: int, rows: Sequence[str], number: int, *, whole: bool
) -> None:
    """Retire `rows` of the `last` version, or all its rows if `whole`, as of version `number`."""
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
            f" {marker.chunks:,}; {UNCHANGED}",
            hint=AGAIN,
        )


def _prepare_graph(collection: Collection, reporter: Reporter) -> None:
    client, name = collection.client, collection.name
    client.update_collection(
        name, hnsw_config=models.HnswConfigDiff(m=GRAPH_LINKS, ef_construct=GRAPH_DEPTH)
    )
    with reporter.step("Linking", "graphs", 1) as progress:
        limit = time.monotonic() + INDEXING_SECONDS
        polls = 0
        while polls < GREEN_POLLS:
            status = client.get_collection(name).status
            if status == models.CollectionStatus.RED or time.monotonic() > limit:
                raise PublishError(
                    f"Qdrant, {name}: its graph is not finished, and the collection is"
                    f" {status.value}; {UNCHANGED}",
                    hint="see the engine's log, then publish again",
                )
            polls = polls + 1 if status == models.CollectionStatus.GREEN else 0
            time.sleep(POLL_SECONDS)
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
            most=INCREMENTAL_QUESTIONS if loaded.is_incremental else None,
            near=loaded.added,
        )
        progress.advance()
    return agreement


def _switch(
    collection: Collection, markers: Sequence[Marker], marker: Marker, agreement: Agreement
) -> None:
    """Write the marker, which makes the version visible and current."""
    current = max(markers, key=lambda each: each.switched, default=None)
    if current is not None and current.held == marker.held:
        return
    # Clocks of publishing machines may differ, but times must show the order of switches.
    latest = 0.0 if current is None else current.switched
    moment = max(time.time(), latest + 1e-3)
    collection.mark(replace(marker, recall=agreement.recall, switched=moment))


def _drop_stale(collection: Collection, grace: float) -> list[str]:
    """Drop versions superseded at least `grace` seconds ago, and rows that only they had."""
    markers = sorted(collection.markers(), key=lambda marker: marker.switched)
    # A version was superseded at the time of the next switch.
    stale = [
        marker
        for marker, successor in pairwise(markers)
        if successor.switched <= time.time() - grace
    ]
    collection.drop(stale)
    collection.remove_unused()
    return sorted(marker.version for marker in stale)


@contextmanager
def _explained(name: str, state: str = UNCHANGED) -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise PublishError(
            f"Qdrant, {name}: {error.message}; {state}",
            hint="start it, or correct QDRANT_URL and QDRANT_API_KEY; then publish again",
        ) from None
