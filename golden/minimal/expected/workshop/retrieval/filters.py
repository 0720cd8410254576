"""Filters: which chunks a search may return, decided before anything is ranked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..index.errors import InvalidRequestError
from ..index.tables import ValueTable

UNKNOWN_TIME = np.iinfo(np.int64).min
"""The modified time of chunks that state none; no modified filter lets them through."""

KNOWN_FIELDS = ("source", "tags", "path", "media_type", "modified_after", "modified_before")
"""Filters that every index has; others are columns of metadata."""

MAX_FILTER_VALUES = 256
"""Values that a request may give one filter."""

MAX_NAMED = 20
"""Sources that an error names."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What chunks must have. Empty fields let everything through.

    One of the sources, all of the tags, a path that begins with one of `path`, one of the media
    types, one of the values of each column of `metadata`; modified at or after, and before, in
    seconds since 1970.
    """

    source: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    modified_after: int | None = None
    modified_before: int | None = None
    path: tuple[str, ...] = ()
    media_type: tuple[str, ...] = ()
    metadata: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def from_json(cls, values: Mapping[str, object], columns: Sequence[str] = ()) -> "Filters":
        """Parse a request's filters; times are ISO 8601 dates or date-times, UTC unless said.

        `columns` are the index's columns of metadata. Raises InvalidRequestError for an unknown
        field, a value of the wrong kind, or too many values.
        """
        found: dict[str, Any] = {}
        metadata: dict[str, tuple[str, ...]] = {}
        for name, value in values.items():
            if name in ("modified_after", "modified_before"):
                found[name] = _time(name, value)
            elif name in KNOWN_FIELDS:
                found[name] = _strings(name, value)
            else:
                _check_column(name, columns)
                if wanted := _strings(name, value):
                    metadata[name] = wanted
        return cls(**found, metadata=metadata)


class FilterColumns:
    """The filterable columns of one index; `columns` are those of metadata."""

    def __init__(
        self,
        sources: Sequence[str],
        chunk_sources: NDArray[np.uint16],
        tags: Sequence[str],
        tag_offsets: NDArray[np.uint64],
        tag_chunks: NDArray[np.uint32],
        modified: NDArray[np.int64],
        values: ValueTable,
        document_lengths: NDArray[np.int64],
        columns: Sequence[str],
    ) -> None:
        self._sources = {name: number for number, name in enumerate(sources)}
        self._chunk_sources = chunk_sources
        self._tags = {name: number for number, name in enumerate(tags)}
        self._tag_offsets = tag_offsets
        self._tag_chunks = tag_chunks
        self._values = values
        self._document_lengths = document_lengths
        self.modified = modified
        self.columns = tuple(columns)

    def newest_date(self) -> str | None:
        """Return the date on which a chunk was modified last, as ISO 8601, if any states one."""
        newest = int(self.modified.max(initial=UNKNOWN_TIME))
        if newest == UNKNOWN_TIME:
            return None
        return datetime.fromtimestamp(newest, UTC).date().isoformat()

    def parse(self, values: Mapping[str, object]) -> Filters:
        """Parse a request's filters.

        Raises InvalidRequestError as `Filters.from_json` does, and for a source that was not
        indexed: sources are few and named by the owner, so that it can only be a mistake.
        """
        filters = Filters.from_json(values, self.columns)
        for name in filters.source:
            if name not in self._sources:
                known = ", ".join(sorted(self._sources)[:MAX_NAMED])
                if len(self._sources) > MAX_NAMED:
                    known += f", and {len(self._sources) - MAX_NAMED:,} more"
                raise InvalidRequestError(
                    f"there is no source {name!r}; known: {known}", field="filters.source"
                )
        return filters

    def known_values(self, name: str, most: int) -> list[str]:
        """Return the values that a filter can have, sorted; none if they are more than `most`."""
        named = {"source": self._sources, "tags": self._tags}.get(name)
        values = self._values.values_of(name, most + 1) if named is None else sorted(named)
        return values if len(values) <= most else []

    def select(self, filters: Filters | None) -> NDArray[np.bool_] | None:
        """Return the chunks (n,) that pass every filter; None where nothing is filtered.

        Raises InvalidRequestError for a column of metadata that this index does not have.
        """
        if filters is None or filters == Filters():
            return None
        allowed = np.ones(len(self.modified), dtype=np.bool_)
        if filters.source:
            wanted = [self._sources[name] for name in filters.source if name in self._sources]
            from_source = np.isin(self._chunk_sources, np.array(wanted, dtype=np.uint16))
            copies = self._values.having("source", filters.source)
            allowed &= from_source | np.repeat(copies, self._document_lengths)
        for tag in filters.tags:
            allowed &= self._having_tag(tag)
        for documents in self._select_documents(filters):
            allowed &= np.repeat(documents, self._document_lengths)
        if filters.modified_after is not None:
            allowed &= self.modified >= filters.modified_after
        if filters.modified_before is not None:
            allowed &= (self.modified < filters.modified_before) & (self.modified != UNKNOWN_TIME)
        return allowed

    def _select_documents(self, filters: Filters) -> Iterator[NDArray[np.bool_]]:
        """Yield the documents (m,) that pass, for each filter that documents pass as a whole."""
        if filters.path:
            yield self._values.beginning("path", filters.path)
        if filters.media_type:
            yield self._values.having("media_type", filters.media_type)
        for name, wanted in filters.metadata.items():
            _check_column(name, self.columns)
            yield self._values.having(name, wanted)

    def _having_tag(self, tag: str) -> NDArray[np.bool_]:
        """Return the chunks (n,) that have a tag."""
        found = np.zeros(len(self.modified), dtype=np.bool_)
        number = self._tags.get(tag)
        if number is not None:
            start, end = self._tag_offsets[number : number + 2].tolist()
            found[self._tag_chunks[start:end]] = True
        return found


def read_pairs(pairs: Iterable[str]) -> dict[str, object]:
    """Read filters written as `field=value`, a field repeated or not, for `Filters.from_json`.

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


def _check_column(name: str, columns: Sequence[str]) -> None:
    if name not in columns:
        raise InvalidRequestError(
            f"unknown filter {name!r}; known: {', '.join((*KNOWN_FIELDS, *columns))}",
            field=f"filters.{name}",
        )


def _strings(name: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not all(isinstance(v, str) for v in values):
        raise InvalidRequestError(
            f"{name} must be a string or a list of strings", field=f"filters.{name}"
        )
    if len(values) > MAX_FILTER_VALUES:
        raise InvalidRequestError(
            f"{name} must have at most {MAX_FILTER_VALUES} values, and has {len(values)}",
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
        f"{name} must be an ISO 8601 date or date-time, such as 2024-05-31",
        field=f"filters.{name}",
    )
