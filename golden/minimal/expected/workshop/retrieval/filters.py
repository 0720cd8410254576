"""Filters: which chunks a search may return, applied before ranking.

A chunk passes if it has all of the `tags`, a path with one of the prefixes in `path`, one of the
values of each other filter, and a date from `modified_after` (inclusive) to `modified_before`
(exclusive). Dates are ISO 8601 dates or date-times, in UTC unless they have an offset.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidRequestError
from ..index.layout import open_array
from ..index.protocols import Mask
from ..index.reader import Index, OpenedIndex
from .filter_schemas import MAX_FILTER_VALUES
from .journal import Journal, format_filters, quote
from .values import ValueTable, find_entries

Filters: TypeAlias = Mapping[str, object]
"""Filter names with strings or lists of strings; None and empty lists filter nothing."""

UNKNOWN_TIME = np.iinfo(np.int64).min  # A time that fails every date filter.
MAX_TOLD_VALUES = 20  # Notices do not list the values of a filter that has more.

# Filters that every index has; others are metadata columns.
KNOWN_FIELDS = ("source", "tags", "path", "media_type", "modified_after", "modified_before")


def parse_filters(filters: Filters | None) -> dict[str, tuple[str, ...]]:
    """Return the values of each filter. Raises InvalidRequestError for wrong types, or too many."""
    parsed = {}
    for name, value in (filters or {}).items():
        values = [] if value is None else [value] if isinstance(value, str) else value
        if not isinstance(values, list | tuple) or not all(isinstance(v, str) for v in values):
            raise _refusal(name, f"{name!r} must be a string or a list of strings")
        if len(values) > MAX_FILTER_VALUES:
            most = f"must have at most {MAX_FILTER_VALUES} values"
            raise _refusal(name, f"{name!r} {most}, but has {len(values)}")
        parsed[name] = tuple(dict.fromkeys(values))
    return parsed


@dataclass(frozen=True, slots=True, eq=False)
class FilterColumns:
    """The filter values of chunks; `columns` are the metadata columns.

    `modified` (n,) has the time of each chunk in seconds since 1970, or UNKNOWN_TIME;
    `chunk_sources` (n,) are positions in `sources`. The chunks with tag i of `tags` (t,) start at
    `tag_offsets[i]` (t + 1,) in `tag_chunks`. `document_lengths` (m,) are numbers of chunks.
    """

    columns: tuple[str, ...]
    modified: NDArray[np.int64]
    sources: list[str]
    chunk_sources: NDArray[np.uint16]
    tags: list[str]
    tag_offsets: NDArray[np.uint64]
    tag_chunks: NDArray[np.uint32]
    values: ValueTable
    document_lengths: NDArray[np.int64]

    @classmethod
    def open(cls, index: OpenedIndex) -> "FilterColumns":
        """Memory-map the files. Raises IndexUnusableError."""
        layout, manifest = index.layout, index.manifest
        ends = open_array(layout.document_chunks, np.uint64, (manifest.documents + 1,))
        return cls(
            tuple(manifest.filterable),
            open_array(layout.filter_modified, np.int64, (manifest.chunks,)),
            manifest.sources,
            open_array(layout.filter_sources, np.uint16, (manifest.chunks,)),
            manifest.tags,
            open_array(layout.filter_tag_offsets, np.uint64, (len(manifest.tags) + 1,)),
            open_array(layout.filter_tag_chunks, np.uint32, (-1,)),
            ValueTable.open(layout, manifest.documents),
            np.diff(ends).astype(np.int64),
        )

    def newest_date(self) -> str | None:
        """Return the latest modification date, as ISO 8601; None if no chunk has one."""
        newest = int(self.modified.max(initial=UNKNOWN_TIME))
        if newest == UNKNOWN_TIME:
            return None
        return datetime.fromtimestamp(newest, UTC).date().isoformat()

    def known_values(self, name: str, most: int) -> list[str]:
        """Return the sorted values of a filter; an empty list if there are more than `most`."""
        named = {"source": self.sources, "tags": self.tags}.get(name)
        values = self.values.values_of(name, most + 1) if named is None else sorted(named)
        return values if len(values) <= most else []

    def children(self, folder: str, after: str | None) -> Iterator[tuple[str, NDArray[np.uint32]]]:
        """Yield the entries of a folder that come `after` a path; see `ValueTable`."""
        return self.values.children(folder, after)

    def entries_of(self, name: str) -> int:
        """Return how many entries `values_in` reads for a filter."""
        return len(self.tag_chunks) if name == "tags" else self.values.entries_of(name)

    def values_in(
        self, name: str, documents: NDArray[np.int64], firsts: NDArray[np.int64]
    ) -> set[tuple[str, int]]:
        """Return the values of a filter in documents (m,), as pairs of value and document.

        `firsts` (m,) are the documents' first chunks; both arrays are sorted.
        """
        if name == "tags":
            places, owners = find_entries(self.tag_offsets, self.tag_chunks, firsts)
            numbers = documents[firsts.searchsorted(self.tag_chunks[places])].tolist()
            return {(self.tags[tag], each) for tag, each in zip(owners, numbers, strict=True)}
        found = set(self.values.values_in(name, documents))
        if name == "source":
            sources = self.chunk_sources[firsts].tolist()
            named = (self.sources[number] for number in sources)
            found.update(zip(named, documents.tolist(), strict=True))
        return found

    def select(self, filters: Filters | None) -> NDArray[np.bool_] | None:
        """Return the chunks (n,) that pass every filter; None if there is no filter.

        Raises InvalidRequestError for an invalid value, or an unknown filter or source.
        """
        known = (*KNOWN_FIELDS, *self.columns)
        allowed = None
        for name, values in parse_filters(filters).items():
            if name not in known:
                raise _refusal(name, f"unknown filter {name!r}; known: {', '.join(known)}")
            if values:
                passing = self._passing(name, values)
                allowed = passing if allowed is None else allowed & passing
        return allowed

    def _passing(self, name: str, values: tuple[str, ...]) -> NDArray[np.bool_]:
        """Return the chunks (n,) that pass one filter."""
        if name == "tags":
            return self._having_tags(values)
        if name in ("modified_after", "modified_before"):
            is_late: NDArray[np.bool_] = self.modified >= _seconds(name, values)
            is_early: NDArray[np.bool_] = ~is_late & (self.modified != UNKNOWN_TIME)
            return is_late if name == "modified_after" else is_early
        documents = self.values.having(name, values, as_beginnings=name == "path")
        passing = np.repeat(documents, self.document_lengths)
        # The value table also has the sources of copies.
        return passing | self._from_sources(values) if name == "source" else passing

    def _from_sources(self, names: tuple[str, ...]) -> NDArray[np.bool_]:
        if unknown := [name for name in names if name not in self.sources]:
            known = ", ".join(sorted(self.sources))
            raise _refusal("source", f"there is no source {unknown[0]!r}; known: {known}")
        numbers = [self.sources.index(name) for name in names]
        return np.isin(self.chunk_sources, np.array(numbers, dtype=np.uint16))

    def _having_tags(self, tags: tuple[str, ...]) -> NDArray[np.bool_]:
        counts = np.zeros(len(self.modified), dtype=np.uint16)
        for tag in tags:
            # Tags are sorted, like the values of a table.
            number = bisect_left(self.tags, tag)
            if self.tags[number : number + 1] == [tag]:
                start, end = self.tag_offsets[number : number + 2].tolist()
                counts[self.tag_chunks[start:end]] += 1
        having_all: NDArray[np.bool_] = counts == len(tags)
        return having_all


def note_empty_filters(
    index: Index, filters: Filters | None, allowed: Mask | None, journal: Journal
) -> None:
    """Note which filter excludes everything if no chunk is `allowed` (n,)."""
    if allowed is None or allowed.any():
        return
    columns, named = index.part(FilterColumns.open), parse_filters(filters)
    empty = [name for name in named if _lets_none(columns, name, named[name])]
    said = ["No passage has " + format_filters({name: named[name] for name in empty or named})]
    for name in empty:
        if known := columns.known_values(name, MAX_TOLD_VALUES):
            said.append(f"known values of {name}: {quote(known)}")
    notice = f"{'; '.join(said)}."
    journal.note("filters", notice, notice=notice)


def _lets_none(columns: FilterColumns, name: str, values: tuple[str, ...]) -> bool:
    allowed = columns.select({name: values})
    return allowed is not None and not allowed.any()


def read_pairs(pairs: Iterable[str]) -> dict[str, list[str]]:
    """Parse filters written as `field=value`. Raises InvalidRequestError if `=` is missing."""
    values: dict[str, list[str]] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise InvalidRequestError(f"{pair!r} must be written field=value", field="filter")
        values.setdefault(name.strip(), []).append(value.strip())
    return values


def parse_time(text: str) -> int:
    """Convert an ISO 8601 date or date-time to seconds since 1970. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def _seconds(name: str, values: tuple[str, ...]) -> int:
    try:
        (value,) = values
        return parse_time(value)
    except (ValueError, OverflowError):
        form = "an ISO 8601 date or date-time, such as 2024-05-31"
        raise _refusal(name, f"{name!r} must be {form}") from None


def _refusal(name: str, message: str) -> InvalidRequestError:
    return InvalidRequestError(message, field=f"filters.{name}")
