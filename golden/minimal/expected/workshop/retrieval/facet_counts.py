"""What a search could be narrowed by, as a response has it."""

from dataclasses import dataclass

from ..index.records import Record


@dataclass(frozen=True, slots=True)
class FacetValue(Record):
    """A value of a filter, and how many of the passages counted have it."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class Facet(Record):
    """The most frequent values of a filter, and how many `others` there are; folders for `path`."""

    filter: str
    values: tuple[FacetValue, ...]
    others: int = 0


@dataclass(frozen=True, slots=True)
class Facets(Record):
    """What a search could be narrowed by, of its best passages: so many were `counted`."""

    counted: int
    filters: tuple[Facet, ...]
