"""A Qdrant collection during a publication: version markers, and rows selected by filters."""

import base64
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self
from uuid import uuid4

import numpy as np
from qdrant_client import QdrantClient, models

from foundry.errors import BusyError, PublishError
from foundry.runtime.store.qdrant.client import is_local_mode
from foundry.runtime.store.qdrant.filters import MARKS, MODIFIED, PATHS
from foundry.runtime.store.qdrant.rows import (
    DENSE,
    KEY,
    NUMBER,
    REASSIGNED,
    SINCE,
    SPARSE,
    UNTIL,
    HeldVersion,
    marker_id,
    rows_of,
)
from foundry.stores.options import UNCHANGED
from foundry.stores.qdrant.points import CODE

FORMAT = 3
"""Format of a collection, stored in its metadata; since 3, versions share rows."""

PAGE = 10_000
"""Points of one scroll request."""

VERSION = "version"
CHUNKS = "chunks"
RECALL = "recall"
SWITCHED = "switched"
SHIFT = "shift"
BUCKETS = "buckets"
"""Payload keys of a marker that are only read when publishing."""

_BUCKET = np.dtype([("number", "<i4"), ("count", "<u4"), ("sum", "<i8")])

_NUMBERS = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=False, range=True)
_NAMES = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=False)
_BOTH = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=True)
_WORDS = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD)
INDEXES: dict[str, models.PayloadSchemaParams] = {
    KEY: _BOTH,
    SINCE: _NUMBERS,
    UNTIL: _NUMBERS,
    NUMBER: _BOTH,
    MARKS: _WORDS,
    PATHS: _NAMES,
    MODIFIED: _NUMBERS,
}
"""Payload indexes, created before any points so that the graph takes them into account."""


@dataclass(frozen=True, slots=True)
class Marker:
    """The marker of a version; `switched` is the time at which it last became current.

    `buckets` are the checksums of its rows, as `sum_buckets` returns them for `shift`.
    """

    version: str
    held: HeldVersion
    chunks: int
    recall: float
    switched: float
    shift: int
    buckets: Sequence[tuple[int, int, int]] = ()

    @classmethod
    def read(cls, payload: dict[str, Any]) -> Self:
        """Parse a payload; the buckets may be missing from it."""
        reassigned = {int(key): slot for key, slot in payload[REASSIGNED].items()}
        buckets = np.frombuffer(base64.b64decode(payload.get(BUCKETS, "")), dtype=_BUCKET)
        return cls(
            payload[VERSION],
            HeldVersion(payload[NUMBER], reassigned),
            payload[CHUNKS],
            payload[RECALL],
            payload[SWITCHED],
            payload[SHIFT],
            buckets.tolist(),
        )

    @property
    def payload(self) -> dict[str, Any]:
        """The marker as a payload."""
        buckets = np.array(list(self.buckets), dtype=_BUCKET)
        return {
            VERSION: self.version,
            NUMBER: self.held.number,
            REASSIGNED: {str(key): slot for key, slot in self.held.reassigned.items()},
            CHUNKS: self.chunks,
            RECALL: self.recall,
            SWITCHED: self.switched,
            SHIFT: self.shift,
            BUCKETS: base64.b64encode(buckets.tobytes()).decode(),
        }


class Collection:
    """A collection during one publication; a search takes at most `search_seconds`."""

    def __init__(self, client: QdrantClient, name: str, search_seconds: float) -> None:
        self.client, self.name, self._search_seconds = client, name, search_seconds
        self._token = uuid4().hex

    def prepare(self, dimensions: int) -> None:
        """Create the collection if it does not exist, and claim it. Raises PublishError."""
        if any(alias.alias_name == self.name for alias in self.client.get_aliases().aliases):
            raise self._refusal(
                "is an alias, which earlier versions of Foundry created",
                f"delete it and the collections {self.name}_*, then publish again, and deploy an"
                " export of this version of Foundry; or set another store.name",
            )
        if not self.client.collection_exists(self.name):
            self._create(dimensions)
        found = self.client.get_collection(self.name)
        if (found.config.metadata or {}).get("format") != FORMAT:
            raise self._refusal(
                "is a collection that this version of Foundry did not create",
                "set another store.name, or delete the collection; then publish again",
            )
        vectors = found.config.params.vectors
        assert isinstance(vectors, dict)
        if (size := vectors[DENSE].size) != dimensions:
            raise self._refusal(
                f"has vectors of {size} dimensions, but the index has {dimensions}",
                "set another store.name, or delete the collection; then publish again",
            )
        if not is_local_mode():
            for key in INDEXES.keys() - found.payload_schema.keys():
                self.client.create_payload_index(self.name, key, INDEXES[key], wait=True)
        self.client.update_collection(self.name, metadata=self._metadata)

    @property
    def _metadata(self) -> dict[str, Any]:
        return {"format": FORMAT, "publisher": self._token}

    def _create(self, dimensions: int) -> None:
        size = models.VectorParams(size=dimensions, distance=models.Distance.COSINE)
        self.client.create_collection(
            self.name,
            vectors_config={DENSE: size},
            sparse_vectors_config={SPARSE: models.SparseVectorParams()},
            # No graph while loading, and none at all if searches are exact.
            hnsw_config=models.HnswConfigDiff(m=0),
            metadata=self._metadata,
        )

    def check_claim(self) -> None:
        """Raise BusyError if another publication has claimed the collection in the meantime."""
        metadata = self.client.get_collection(self.name).config.metadata or {}
        if metadata.get("publisher") != self._token:
            raise BusyError(
                f"Qdrant, {self.name}: another process has started to publish into it",
                hint="wait until it has finished",
            )

    def markers(self) -> list[Marker]:
        """Return the markers of all versions, by number, without their buckets."""
        return sorted(
            (Marker.read(record.payload or {}) for record in self._marked(gte=1)),
            key=lambda marker: marker.held.number,
        )

    def with_buckets(self, marker: Marker) -> Marker:
        """Read a marker again, with its buckets."""
        (record,) = self.client.retrieve(self.name, [marker_id(marker.version)])
        return Marker.read(record.payload or {})

    def mark(self, marker: Marker) -> None:
        """Write a marker."""
        point = models.PointStruct(id=marker_id(marker.version), vector={}, payload=marker.payload)
        self.client.upsert(self.name, [point], wait=True)

    def drop(self, markers: Sequence[Marker]) -> None:
        """Drop versions by negating the numbers of their markers."""
        for marker in markers:
            gone = replace(marker, held=replace(marker.held, number=-marker.held.number))
            self.mark(gone)

    def remove_unused(self) -> None:
        """Delete rows that no version has, and the markers of dropped versions.

        Waits first, since searches of a dropped or renumbered version may still be running.
        """
        gone = [record.id for record in self._marked(lte=-1)]
        numbers = [marker.held.number for marker in self.markers()]
        unused = _unused(numbers)
        is_unused = bool(self.client.count(self.name, unused, exact=True).count)
        if gone or is_unused:
            time.sleep(self._search_seconds)
        if is_unused:
            self.client.delete(self.name, models.FilterSelector(filter=unused), wait=True)
        if gone:
            self.client.delete(self.name, models.PointIdsList(points=gone), wait=True)

    def unretire(self, number: int) -> None:
        """Restore the rows that were retired after a version."""
        after = models.Filter(must=[_field(UNTIL, gt=number)])
        self.client.delete_payload(self.name, [UNTIL], after, wait=True)

    def rows(self, condition: models.Filter) -> Iterator[tuple[str, int]]:
        """Yield ids and codes of the rows that match a condition."""
        for record in self._scroll(condition, [CODE]):
            yield str(record.id), int((record.payload or {})[CODE])

    def count(self, number: int) -> int:
        """Return how many rows a version has."""
        return self.client.count(self.name, rows_of(number), exact=True).count

    def _marked(self, **limits: float) -> Iterator[models.Record]:
        keys = [VERSION, NUMBER, REASSIGNED, CHUNKS, RECALL, SWITCHED, SHIFT]
        return self._scroll(models.Filter(must=[_field(NUMBER, **limits)]), keys)

    def _scroll(self, condition: models.Filter, keys: list[str]) -> Iterator[models.Record]:
        offset: Any = None
        while True:
            records, offset = self.client.scroll(
                self.name, condition, limit=PAGE, offset=offset, with_payload=keys
            )
            yield from records
            if offset is None:
                return

    def _refusal(self, problem: str, hint: str) -> PublishError:
        return PublishError(f"Qdrant, {self.name}: {problem}; {UNCHANGED}", hint=hint)


def after(number: int) -> models.Filter:
    """Return a filter for rows that were added after a version."""
    return models.Filter(must=[_field(SINCE, gt=number)])


def in_buckets(buckets: Sequence[int], shift: int) -> models.Filter:
    """Return a filter for the rows of some buckets."""
    # Bounds are sent as floats; those of a bucket have few bits, so they are exact.
    ranges: list[models.Condition] = [
        _field(KEY, gte=bucket << shift, lt=(bucket + 1) << shift) for bucket in buckets
    ]
    return models.Filter(should=ranges)


def _unused(numbers: Sequence[int]) -> models.Filter:
    """Return a filter for rows that none of the versions with these numbers has.

    Rows that were added after all of them are kept: the next publication may reuse them.
    """
    gaps: list[models.Condition] = [
        models.Filter(must=[_field(SINCE, gt=before), _field(UNTIL, lte=number)])
        for before, number in zip([0, *numbers], numbers, strict=False)
    ]
    return models.Filter(should=gaps) if gaps else models.Filter(must=[_field(SINCE, lt=0)])


def _field(key: str, **limits: float) -> models.FieldCondition:
    return models.FieldCondition(key=key, range=models.Range(**limits))
