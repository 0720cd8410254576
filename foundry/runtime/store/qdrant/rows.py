"""What a collection in Qdrant consists of: rows that versions share, and a marker for each version.

A row is a point for a chunk. It is written once, and says `since` which version it is there, and
once it was retired also `until` which. Its payload has the key of its chunk, and what filters ask
for. Its id is made of the key and the version, so to write it twice is to write it once.

A marker is a point without vectors, with the number of its version: they count from 1. The version
is there as long as its marker has this number, so one change of one point makes it known, or takes
it away.
"""

from dataclasses import dataclass
from uuid import UUID

from qdrant_client import models

DENSE = "dense"
SPARSE = "bm25"
"""The vectors of a row."""

KEY = "key"
SINCE = "since"
UNTIL = "until"
NUMBER = "number"
MOVED = "moved"
"""Keys of payloads: three of rows, and two of markers."""

_WORD = 2**64
_SLOTS = 2**32


@dataclass(frozen=True, slots=True)
class HeldVersion:
    """What a marker says of a version.

    Terms have the end of their keys as their numbers in sparse vectors. Some would have the same
    as another: those were `moved`, and have others, by their keys.
    """

    number: int
    moved: dict[int, int]

    def slot(self, key: int) -> int:
        """Return the number of a term in sparse vectors."""
        return self.moved.get(key, key % _SLOTS)


def row_id(key: int, number: int) -> str:
    """Return the id of a chunk's row since a version."""
    return str(UUID(int=(key % _WORD) * _WORD + number))


def parse_row_id(row: models.ExtendedPointId) -> tuple[int, int]:
    """Return the key of a row's chunk, and since which version it is there."""
    key, number = divmod(UUID(str(row)).int, _WORD)
    return (key - _WORD if key >= _WORD // 2 else key), number


def marker_id(version: str) -> int:
    """Return the id of a version's marker."""
    return int(version, 16)


def rows_of(number: int, *conditions: models.Condition) -> models.Filter:
    """Return a filter that the rows of a version pass, if they meet the conditions too."""
    is_begun = models.FieldCondition(key=SINCE, range=models.Range(lte=number))
    is_over = models.FieldCondition(key=UNTIL, range=models.Range(lte=number))
    return models.Filter(must=[is_begun, *conditions], must_not=[is_over])
