"""What Qdrant is asked, and what it answers: the vectors of a query, ties and noise."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from qdrant_client import models

from ..retrieval.candidates import LaneHits, best

DENSE = "dense"
SPARSE = "bm25"
"""The vectors of a point."""

GRAPH_DEPTH = 512
"""Candidates that the graph keeps at the least (hnsw_ef)."""

SPARE = 20
"""Candidates beyond those wanted, among which chunk numbers settle ties at the end."""

BITS = 22
"""Scores keep so many of the 24 bits of float32, so that equal ones tie."""

Query: TypeAlias = list[float] | models.SparseVector


class Requests:
    """Makes requests for an engine, or for a client that plays it itself (`is_local`)."""

    def __init__(self, is_local: bool) -> None:
        self._is_local = is_local

    def make(
        self,
        using: str,
        query: Query,
        count: int,
        restriction: models.Filter | None,
        *,
        exact: bool,
    ) -> models.QueryRequest:
        """Return a request for the `count` points nearest to a query."""
        return models.QueryRequest(
            query=models.NearestQuery(nearest=query),
            using=using,
            filter=restriction,
            limit=count,
            with_payload=False,
            params=self._params(exact, count, restriction),
        )

    def _params(
        self, exact: bool, count: int, restriction: models.Filter | None
    ) -> models.SearchParams | None:
        if self._is_local:
            return None
        if exact:
            return models.SearchParams(exact=True)
        # A graph falls apart where a filter takes most of it away; ACORN steps over what it took.
        steps = models.AcornSearchParams(enable=restriction is not None)
        return models.SearchParams(hnsw_ef=max(GRAPH_DEPTH, count), acorn=steps)


def by_vector(vector: NDArray[np.int8], scale: float) -> Query:
    """Return the query for a unit vector (d,) of integers and their scale."""
    unit: list[float] = (vector * scale).tolist()
    return unit


def by_terms(terms: Sequence[tuple[int, int]]) -> Query:
    """Return the query for terms, each with how often it is asked for."""
    ordered = sorted(terms)
    return models.SparseVector(
        indices=[number for number, _ in ordered], values=[float(times) for _, times in ordered]
    )


def by_number(chunks: NDArray[np.int64]) -> models.Filter:
    """Return a filter that nothing but these chunks passes."""
    return models.Filter(must=[models.HasIdCondition(has_id=chunks.tolist())])


def read_points(
    points: Sequence[models.ScoredPoint],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return chunks (m,) and scores (m,), best first; noise of float32 is rounded away."""
    numbers = np.array([point.id for point in points], dtype=np.int64)
    fractions, exponents = np.frexp([point.score for point in points])
    return numbers, np.ldexp(np.rint(fractions * 2**BITS), exponents - BITS)


def settle(
    numbers: NDArray[np.int64], scores: NDArray[np.float64], count: int, depth: int
) -> LaneHits | None:
    """Return the best of the `depth` hits that were asked for, if the last does not tie with them.

    The engine breaks ties in an order of its own: all that tie with the last are needed.
    """
    is_settled = len(scores) < depth or scores[-1] < scores[count - 1]
    return best(numbers, scores, count) if is_settled else None
