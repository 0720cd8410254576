"""Filters: which chunks a search may return, decided before anything is ranked."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..index.arrays import open_array
from ..index.errors import InvalidRequestError
from ..index.layout import IndexLayout, Manifest
from ..index.tables import ValueTable

UNKNOWN_TIME = np.iinfo(np.int64).min
"""The modified time of chunks that state none; no modified filter lets them through."""

TIMES = ("modified_after", "modified_before")

KNOWN_FIELDS = ("source", "tags", "path", "media_type", *TIMES)
"""Filters that every index has; others are columns of metadata."""

MAX_FILTER_VALUES = 256
"""Values that a request may give one filter."""

MAX_NAMED = 20
"""Sources that an error names."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What chunks must have; empty fields let everything through.

    One of the sources, all of the tags, a path that begins with one of `path`, one of the media
    types, and one of the values of each column of `metadata`; modified at or after, and before,
    in seconds since 1970.
    """

    source: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    modified_after: int | None = None
    modified_before: int | None = None
    path: tuple[str, ...] = ()
    media_type: tuple[str, ...] = ()
    metadata: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, wanted: "FiltersLike") -> "Filters":
        """Parse filters as a request has them: a string or a list of strings for each name.

        Times are ISO 8601 dates or date-times, in UTC unless they name another zone. Raises
        InvalidRequestError for values of another kind, or too many.
        """
        if wanted is None or isinstance(wanted, Filters):
            return wanted or cls()
        after, before = (_time(name, wanted.get(name)) for name in TIMES)
        values = {name: _strings(name, wanted[name]) for name in wanted if name not in TIMES}
        source, tags, path, media_type = (values.pop(name, ()) for name in KNOWN_FIELDS[:4])
        return cls(source, tags, after, before, path, media_type, values)


FiltersLike: TypeAlias = Filters | Mapping[str, object] | None
"""Filters, or the same as a request has them: `{"source": "handbook", "tags": ["a", "b"]}`."""


class FilterColumns:
    """What the chunks of one index can be filtered by.

    Attributes:
        columns: The columns of metadata.
        modified: When each chunk (n,) was modified, in seconds since 1970, or UNKNOWN_TIME.
    """

    def __init__(
        self, layout: IndexLayout, manifest: Manifest, document_lengths: NDArray[np.int64]
    ) -> None:
        """Map the files of filters; documents (m,) have so many chunks each.

        Raises IndexUnusableError.
        """
        shape = (manifest.chunks,)
        self.columns = tuple(manifest.filterable)
        self.modified = open_array(layout.filter_modified, np.int64, shape)
        self._sources = {name: number for number, name in enumerate(manifest.sources)}
        self._chunk_sources = open_array(layout.filter_sources, np.uint16, shape)
        self._tags = {name: number for number, name in enumerate(manifest.tags)}
        self._tag_offsets = open_array(
            layout.filter_tag_offsets, np.uint64, (len(manifest.tags) + 1,)
        )
        self._tag_chunks = open_array(layout.filter_tag_chunks, np.uint32, (-1,))
        self._values = ValueTable(layout, manifest.documents)
        self._document_lengths = document_lengths

    def newest_date(self) -> str | None:
        """Return the date on which a chunk was modified last, as ISO 8601, if any states one."""
        newest = int(self.modified.max(initial=UNKNOWN_TIME))
        if newest == UNKNOWN_TIME:
            return None
        return datetime.fromtimestamp(newest, UTC).date().isoformat()

    def known_values(self, name: str, most: int) -> list[str]:
        """Return the values that a filter can have, sorted; none if they are more than `most`."""
        named = {"source": self._sources, "tags": self._tags}.get(name)
        values = self._values.values_of(name, most + 1) if named is None else sorted(named)
        return values if len(values) <= most else []

    def select(self, wanted: FiltersLike) -> NDArray[np.bool_] | None:
        """Return the chunks (n,) that pass every filter; None where nothing is filtered.

        Raises InvalidRequestError as `Filters.of` does, and for a column or a source that this
        index does not have: an owner names a few of them, so that it can only be a mistake.
        """
        filters = Filters.of(wanted)
        self._check_names(filters)
        allowed = None
        for mask in self._masks(filters):
            allowed = mask if allowed is None else allowed & mask
        return allowed

    def _check_names(self, filters: Filters) -> None:
        for name in filters.metadata:
            if name not in self.columns:
                known = ", ".join((*KNOWN_FIELDS, *self.columns))
                raise InvalidRequestError(
                    f"unknown filter {name!r}; known: {known}", field=f"filters.{name}"
                )
        for name in filters.source:
            if name not in self._sources:
                known = ", ".join(sorted(self._sources)[:MAX_NAMED])
                if len(self._sources) > MAX_NAMED:
                    known += f", and {len(self._sources) - MAX_NAMED:,} more"
                raise InvalidRequestError(
                    f"there is no source {name!r}; known: {known}", field="filters.source"
                )

    def _masks(self, filters: Filters) -> Iterator[NDArray[np.bool_]]:
        """Yield the chunks (n,) that pass, for each filter."""
        if filters.source:
            numbers = [self._sources[name] for name in filters.source]
            from_source = np.isin(self._chunk_sources, np.array(numbers, dtype=np.uint16))
            # A copy of a document, from another source, is not stored again.
            yield from_source | self._chunks_of(self._values.having("source", filters.source))
        for tag in filters.tags:
            found = np.zeros(len(self.modified), dtype=np.bool_)
            if tag in self._tags:
                start, end = self._tag_offsets[self._tags[tag] :][:2].tolist()
                found[self._tag_chunks[start:end]] = True
            yield found
        if filters.path:
            yield self._chunks_of(self._values.beginning("path", filters.path))
        for name, values in (("media_type", filters.media_type), *filters.metadata.items()):
            if values:
                yield self._chunks_of(self._values.having(name, values))
        if filters.modified_after is not None:
            yield self.modified >= filters.modified_after
        if filters.modified_before is not None:
            yield (self.modified < filters.modified_before) & (self.modified != UNKNOWN_TIME)

    def _chunks_of(self, documents: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.repeat(documents, self._document_lengths)


def read_pairs(pairs: Iterable[str]) -> dict[str, object]:
    """Read filters written as `field=value`, a field repeated or not, for `Filters.of`.

    Raises InvalidRequestError for one that has no `=`.
    """
    values: dict[str, list[str]] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise InvalidRequestError(f"{pair!r} must be written field=value", field="filter")
        values.setdefault(name.strip(), []).append(value.strip())
    return {name: found[0] if len(found) == 1 else found for name, found in values.items()}


def parse_time(text: str) -> int:
    """Return an ISO 8601 date or date-time in seconds since 1970. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp())


def _strings(name: str, value: object) -> tuple[str, ...]:
    values = [] if value is None else [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not all(isinstance(v, str) for v in values):
        raise InvalidRequestError(
            f"{name!r} must be a string or a list of strings", field=f"filters.{name}"
        )
    if len(values) > MAX_FILTER_VALUES:
        raise InvalidRequestError(
            f"{name!r} must have at most {MAX_FILTER_VALUES} values, and has {len(values)}",
            field=f"filters.{name}",
        )
    return tuple(dict.fromkeys(values))


def _time(name: str, value: object) -> int | None:
    if value is None:
        return None
    try:
        if isinstance(value, str):
            return parse_time(value)
    except (ValueError, OverflowError):
        pass
    raise InvalidRequestError(
        f"{name!r} must be an ISO 8601 date or date-time, such as 2024-05-31",
        field=f"filters.{name}",
    )
