"""Facets of a response."""

from dataclasses import dataclass

from ..index.records import Record


@dataclass(frozen=True, slots=True)
class FacetValue(Record):
    """A filter value with the number of counted passages that have it."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class Facet(Record):
    """The most frequent values of a filter (folders for `path`), and the number of `others`."""

    filter: str
    values: tuple[FacetValue, ...]
    others: int = 0


@dataclass(frozen=True, slots=True)
class Facets(Record):
    """Facets over the best `counted` passages."""

    counted: int
    filters: tuple[Facet, ...]
