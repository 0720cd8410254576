"""Requests to Qdrant and its replies: query vectors, ties and rounding noise."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from qdrant_client import models

from ...index.protocols import LaneHits
from ...retrieval.candidates import best
from ...retrieval.quantising import QuantisedVector
from ..restriction import Restriction
from ..store import Edition
from .client import missing_version
from .filters import by_chunks, conditions_of
from .rows import DENSE, NUMBER, SPARSE, HeldVersion, marker_id, parse_row_id, rows_of

GRAPH_DEPTH = 512
"""Minimum number of candidates in the graph (hnsw_ef)."""

SPARE = 20
"""Extra candidates to request, so that ties at the end can be broken by chunk number."""

BITS = 22
"""Bits to which a score's significand is rounded (float32 has 24).

Scores that differ only by rounding errors then tie.
"""

Vector: TypeAlias = list[float] | models.SparseVector


class Query(NamedTuple):
    """A query against the vectors named `using`; `make` returns it for a version."""

    using: str
    make: Callable[[HeldVersion], Vector]


class Requests:
    """Creates requests for a server, or for the client's local mode (`is_local`)."""

    def __init__(self, is_local: bool) -> None:
        self._is_local = is_local

    def nearest(
        self,
        query: Query,
        count: int,
        only: Restriction | None,
        edition: Edition,
        held: HeldVersion,
        *,
        exact: bool,
    ) -> models.QueryRequest:
        """Return a request for the `count` rows of a version nearest to a query."""
        return models.QueryRequest(
            query=models.NearestQuery(nearest=query.make(held)),
            using=query.using,
            filter=conditions_of(only, edition, held),
            limit=count,
            with_payload=False,
            params=self._params(exact, count, is_filtered=only is not None),
        )

    def scores(
        self, query: Query, chunks: NDArray[np.int64], edition: Edition, held: HeldVersion
    ) -> models.QueryRequest:
        """Return a request for the scores of given chunks."""
        return models.QueryRequest(
            query=models.NearestQuery(nearest=query.make(held)),
            using=query.using,
            filter=rows_of(held.number, by_chunks(chunks, edition)),
            limit=len(chunks),
            with_payload=False,
            params=self._params(True, len(chunks), is_filtered=True),
        )

    def _params(self, exact: bool, count: int, *, is_filtered: bool) -> models.SearchParams | None:
        if self._is_local:
            return None
        if exact:
            return models.SearchParams(exact=True)
        # Filters that exclude most points disconnect the graph; ACORN steps over excluded points.
        steps = models.AcornSearchParams(enable=is_filtered)
        return models.SearchParams(hnsw_ef=max(GRAPH_DEPTH, count), acorn=steps)


def passing(restriction: models.Filter, count: int) -> models.QueryRequest:
    """Return a request for any `count` points that pass a filter."""
    return models.QueryRequest(filter=restriction, limit=count, with_payload=False)


def marker_of(version: str, held: HeldVersion) -> models.QueryRequest:
    """Return a request that finds a version's marker only while it has the same number."""
    has_number = models.FieldCondition(key=NUMBER, match=models.MatchValue(value=held.number))
    is_marker = models.HasIdCondition(has_id=[marker_id(version)])
    return passing(models.Filter(must=[is_marker, has_number]), 1)


def by_vector(vector: QuantisedVector) -> Query:
    """Return the query for a vector."""
    unit: list[float] = (vector.integers * vector.scale).tolist()
    return Query(DENSE, lambda _held: unit)


def by_terms(edition: Edition, terms: Sequence[tuple[int, int]]) -> Query:
    """Return the query for terms, given as their numbers and counts in the user's query."""
    weights = [(edition.weights[number], times) for number, times in terms]

    def make(held: HeldVersion) -> models.SparseVector:
        asked = sorted((held.slot(each.key), each.weight * times) for each, times in weights)
        return models.SparseVector(
            indices=[slot for slot, _ in asked], values=[weight for _, weight in asked]
        )

    return Query(SPARSE, make)


def read_points(
    points: Sequence[models.ScoredPoint], edition: Edition
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return chunks (m,) and scores (m,), best first, rounded to `BITS`.

    Raises VersionMissingError for rows of another version.
    """
    keys = np.array([parse_row_id(point.id)[0] for point in points], dtype=np.int64)
    numbers = edition.keys.numbers(keys)
    if numbers is None:
        raise missing_version(edition.version)
    fractions, exponents = np.frexp([point.score for point in points])
    return numbers, np.ldexp(np.rint(fractions * 2**BITS), exponents - BITS)


def resolve_ties(
    numbers: NDArray[np.int64], scores: NDArray[np.float64], count: int, depth: int
) -> LaneHits | None:
    """Return the best `count` of `depth` requested hits; None if a tie may have been cut off.

    The engine breaks ties in its own order, so all hits that tie with the last one are needed.
    """
    is_complete = len(scores) < depth or scores[-1] < scores[count - 1]
    return best(numbers, scores, count) if is_complete else None
