"""Filters as conditions on the payload of rows, which Qdrant indexes.

The payload has the values as encoded by `encode_value`, the date in seconds since 1970 if it is
known, and, for each path, hashes of the whole and of its prefixes of 4, 8, 12 ... bytes. A prefix
of another length is replaced by the stored prefixes that begin with it, of which a version has few.
"""

from bisect import bisect_left
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from qdrant_client import models

from ...retrieval.filters import parse_time
from ...retrieval.values import AFTER_ALL, encode_value
from ..restriction import Restriction
from ..rows import signed_key
from ..store import Edition
from .rows import KEY, HeldVersion, rows_of

MARKS = "marks"
PATHS = "paths"
MODIFIED = "modified"
"""Payload keys of a row."""

_STEP = 4
_PATH = encode_value("path", "")


def conditions_of(only: Restriction | None, edition: Edition, held: HeldVersion) -> models.Filter:
    """Return the conditions under which a row of a version may be found."""
    conditions: list[models.Condition] = []
    if only is not None:
        conditions += _passing(only, edition)
        if only.is_picked:
            chunks, is_excluded = only.listed()
            picked = by_chunks(chunks, edition)
            conditions.append(models.Filter(must_not=[picked]) if is_excluded else picked)
    return rows_of(held.number, *conditions)


def by_chunks(chunks: NDArray[np.int64], edition: Edition) -> models.FieldCondition:
    """Return a condition that matches exactly these chunks."""
    keys = edition.keys.by_number[chunks].tolist()
    return models.FieldCondition(key=KEY, match=models.MatchAny(any=keys))


def _passing(only: Restriction, edition: Edition) -> Iterator[models.Condition]:
    """Yield a condition for each filter."""
    for name, asked in only.filters.items():
        if not asked:
            continue
        if name in ("modified_after", "modified_before"):
            moment = parse_time(asked[0])
            is_after = name == "modified_after"
            passing = models.Range(gte=moment) if is_after else models.Range(lt=moment)
            yield models.FieldCondition(key=MODIFIED, range=passing)
        elif name == "path":
            found = {piece for path in asked for piece in _continuations(path, edition)}
            match = models.MatchAny(any=sorted(found))
            yield models.FieldCondition(key=PATHS, match=match)
        else:
            values = [encode_value(name, value).decode() for value in asked]
            if name == "tags":
                for value in values:
                    yield models.FieldCondition(key=MARKS, match=models.MatchValue(value=value))
            else:
                yield models.FieldCondition(key=MARKS, match=models.MatchAny(any=values))


def path_prefixes(path: bytes) -> list[int]:
    """Return the hashes of an encoded path and of its prefixes."""
    own = path.removeprefix(_PATH)
    ends = [*range(_STEP, len(own), _STEP), len(own)]
    return [_hash(own[:end]) for end in ends]


def _continuations(path: str, edition: Edition) -> Iterator[int]:
    """Yield the hashes of the stored prefixes (see `path_prefixes`) that continue a path."""
    values, begun = edition.open_values(), encode_value("path", path)
    steps = max(1, -(-(len(begun) - len(_PATH)) // _STEP))
    end = len(_PATH) + steps * _STEP
    place = bisect_left(values, begun)
    while place < len(values) and (value := values[place]).startswith(begun):
        yield _hash(value[len(_PATH) : end])
        # Skip to the first path with another prefix.
        is_whole = len(value) <= end
        place = place + 1 if is_whole else bisect_left(values, value[:end] + AFTER_ALL, place)


def _hash(beginning: bytes) -> int:
    # A prefix may end inside a character.
    return signed_key(beginning.decode("latin-1"))
