"""Filters: which chunks a search may return, decided before anything is ranked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from .errors import InvalidRequestError

UNKNOWN_TIME = np.iinfo(np.int64).min
"""The modified time of chunks that state none; no modified filter lets them through."""

KNOWN_FIELDS = ("source", "tags", "modified_after", "modified_before")


@dataclass(frozen=True, slots=True)
class Filters:
    """What chunks must have. Empty fields let everything through.

    One of the sources, all of the tags; modified at or after, and before, in seconds since 1970.
    """

    source: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    modified_after: int | None = None
    modified_before: int | None = None

    @classmethod
    def from_json(cls, values: Mapping[str, object]) -> "Filters":
        """Parse a request's filters; times are ISO 8601 dates or date-times, UTC unless said.

        Raises InvalidRequestError for an unknown field or a value of the wrong kind.
        """
        for name in values:
            if name not in KNOWN_FIELDS:
                raise InvalidRequestError(
                    f"unknown filter {name!r}; known: {', '.join(KNOWN_FIELDS)}",
                    field=f"filters.{name}",
                )
        return cls(
            source=_strings("source", values.get("source")),
            tags=_strings("tags", values.get("tags")),
            modified_after=_time("modified_after", values.get("modified_after")),
            modified_before=_time("modified_before", values.get("modified_before")),
        )


class FilterColumns:
    """The filterable columns of one index."""

    def __init__(
        self,
        sources: Sequence[str],
        chunk_sources: NDArray[np.uint16],
        tags: Sequence[str],
        tag_offsets: NDArray[np.uint64],
        tag_chunks: NDArray[np.uint32],
        modified: NDArray[np.int64],
    ) -> None:
        self._sources = {name: number for number, name in enumerate(sources)}
        self._chunk_sources = chunk_sources
        self._tags = {name: number for number, name in enumerate(tags)}
        self._tag_offsets = tag_offsets
        self._tag_chunks = tag_chunks
        self._modified = modified

    def select(self, filters: Filters | None) -> NDArray[np.bool_] | None:
        """The chunks (n,) that pass every filter, or None where nothing is filtered."""
        if filters is None or filters == Filters():
            return None
        allowed = np.ones(len(self._modified), dtype=np.bool_)
        if filters.source:
            wanted = [self._sources[name] for name in filters.source if name in self._sources]
            allowed &= np.isin(self._chunk_sources, np.array(wanted, dtype=np.uint16))
        for name in filters.tags:
            tagged = np.zeros(len(allowed), dtype=np.bool_)
            if (number := self._tags.get(name)) is not None:
                start, end = int(self._tag_offsets[number]), int(self._tag_offsets[number + 1])
                tagged[self._tag_chunks[start:end]] = True
            allowed &= tagged
        if filters.modified_after is not None:
            allowed &= self._modified >= filters.modified_after
        if filters.modified_before is not None:
            allowed &= (self._modified < filters.modified_before) & (self._modified != UNKNOWN_TIME)
        return allowed


def parse_time(text: str) -> int:
    """Seconds since 1970 of an ISO 8601 date or date-time. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp())


def _strings(field: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not all(isinstance(v, str) for v in values):
        raise InvalidRequestError(
            f"{field} must be a string or a list of strings", field=f"filters.{field}"
        )
    return tuple(values)


def _time(field: str, value: object) -> int | None:
    if value is None:
        return None
    try:
        if isinstance(value, str):
            return parse_time(value)
    except (ValueError, OverflowError):
        pass
    raise InvalidRequestError(
        f"{field} must be an ISO 8601 date or date-time, such as 2024-05-31",
        field=f"filters.{field}",
    )
