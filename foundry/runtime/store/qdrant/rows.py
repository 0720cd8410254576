"""The layout of a Qdrant collection: rows, shared by versions, and a marker for each version.

A row is a point for a chunk, written once. Its payload has the key of the chunk, the version that
added it (`since`), the one that retired it (`until`), if any, and the values for filters. Its id is
derived from key and version, so writing a row twice has no effect.

A marker is a point without vectors that has the number of its version, counted from 1. A version
exists while its marker has that number, so one write publishes or drops it.
"""

from dataclasses import dataclass
from uuid import UUID

from qdrant_client import models

DENSE = "dense"
SPARSE = "bm25"
"""Names of a row's dense and sparse vector."""

KEY = "key"
SINCE = "since"
UNTIL = "until"
NUMBER = "number"
REASSIGNED = "moved"
"""Payload keys: three of rows, two of markers. Renaming one changes the format."""

_WORD = 2**64
_SLOTS = 2**32


@dataclass(frozen=True, slots=True)
class HeldVersion:
    """The version that a marker describes.

    The slot of a term, its index in sparse vectors, is the low 32 bits of its key. Terms whose
    slots would collide were `reassigned`: key -> slot.
    """

    number: int
    reassigned: dict[int, int]

    def slot(self, key: int) -> int:
        """Return the slot of a term by its key."""
        return self.reassigned.get(key, key % _SLOTS)


def row_id(key: int, number: int) -> str:
    """Return the id of the row that version `number` adds for a chunk, given its key."""
    return str(UUID(int=(key % _WORD) * _WORD + number))


def parse_row_id(row: models.ExtendedPointId) -> tuple[int, int]:
    """Return the key of a row's chunk, and the number of the version that added it."""
    key, number = divmod(UUID(str(row)).int, _WORD)
    return (key - _WORD if key >= _WORD // 2 else key), number


def marker_id(version: str) -> int:
    """Return the id of a version's marker."""
    return int(version, 16)


def rows_of(number: int, *conditions: models.Condition) -> models.Filter:
    """Return a filter for the rows of a version that meet all conditions."""
    is_begun = models.FieldCondition(key=SINCE, range=models.Range(lte=number))
    is_over = models.FieldCondition(key=UNTIL, range=models.Range(lte=number))
    return models.Filter(must=[is_begun, *conditions], must_not=[is_over])
