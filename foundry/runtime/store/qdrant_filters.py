"""Filters as Qdrant is asked for them: by the payload of points, which is indexed there.

A point has its values as `encode_value` writes them, its date in seconds since 1970 if that is
known, and its paths by their places in the version's sorted table of values: paths that begin alike
are a range of it.
"""

from bisect import bisect_left
from collections.abc import Iterator

import numpy as np
from qdrant_client import models

from ..retrieval.filters import AFTER_ALL, encode_value, parse_time
from .qdrant_requests import by_number
from .restriction import Restriction
from .store import Edition

MARKS = "marks"
PATHS = "paths"
MODIFIED = "modified"
"""The keys of a payload."""


def conditions_of(only: Restriction | None, edition: Edition) -> models.Filter | None:
    """Return the conditions under which a point may be found, if not every one may."""
    if only is None:
        return None
    conditions: list[models.Condition] = []
    # [filters
    conditions += _passing(only, edition)
    # ]
    if only.is_picked:
        # Words and phrases that must or must not be there are no filters: chunks are named, either
        # those that may be found or those that may not.
        is_mostly = 2 * int(only.allowed.sum()) > len(only.allowed)
        picked = by_number(np.flatnonzero(only.allowed != is_mostly))
        conditions.append(models.Filter(must_not=[picked]) if is_mostly else picked)
    return models.Filter(must=conditions)


# [filters
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
            yield models.Filter(should=[_beginning(path, edition) for path in asked])
        else:
            values = [encode_value(name, value).decode() for value in asked]
            if name == "tags":
                for value in values:
                    match = models.MatchValue(value=value)
                    yield models.FieldCondition(key=MARKS, match=match)
            else:
                yield models.FieldCondition(key=MARKS, match=models.MatchAny(any=values))


def _beginning(path: str, edition: Edition) -> models.FieldCondition:
    """Return the condition that one of a point's paths begins like this."""
    key = encode_value("path", path)
    first = bisect_left(edition.values, key)
    last = bisect_left(edition.values, key + AFTER_ALL)
    return models.FieldCondition(key=PATHS, range=models.Range(gte=first, lt=last))


# ]
