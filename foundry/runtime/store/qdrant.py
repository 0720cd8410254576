"""Qdrant as the engine: a collection a version, with a dense and a sparse vector for each chunk.

Versions are collections `<name>_<version>`; the alias `<name>` is that of the version published
last. Points have the numbers of chunks. Scores are computed in float32, so they agree with those of
the embedded index to about 1e-6. The keyword lane is always exact: Qdrant reads its sparse index in
full.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException

from ..retrieval.candidates import LaneHits, best
from .qdrant_client import (
    is_timeout,
    missing_version,
    open_client,
    plays_engine,
    translated,
    whole_seconds,
)
from .settings import StoreSettings
from .store import Engine, is_short

DENSE = "dense"
SPARSE = "bm25"
"""The vectors of a point."""

GRAPH_DEPTH = 512
"""Candidates that the graph keeps at the least (hnsw_ef)."""

SPARE = 20
"""Candidates beyond those wanted, among which chunk numbers settle ties at the end."""

BITS = 22
"""Of a score that are kept, of the 24 that float32 has, so that what is equal ties."""


Answer = TypeVar("Answer")


class QdrantEngine:
    """Searches in the collections of one Qdrant; see `store.Engine`."""

    def __init__(
        self, client: QdrantClient, settings: StoreSettings, *, is_local: bool = False
    ) -> None:
        """`is_local` is said of a client that plays the engine itself."""
        self._client = client
        self._is_local = is_local
        self._settings = settings
        self._timeout = whole_seconds(settings)

    def search_vector(
        self,
        version: str,
        vector: NDArray[np.int8],
        scale: float,
        count: int,
        allowed: NDArray[np.bool_] | None,
    ) -> LaneHits:
        """Return the `count` chunks of highest cosine; those without a vector are no hits."""
        query, exact = _unit(vector, scale), self._settings.exact
        hits = self._search(version, DENSE, query, count, allowed, exact=exact)
        if exact or not is_short(hits, count, allowed):
            return hits
        return self._search(version, DENSE, query, count, allowed, exact=True)

    def score_vector(
        self, version: str, vector: NDArray[np.int8], scale: float, chunks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the cosines (m,) of given chunks (m,), ascending; 0 for one without a vector."""
        scores, count = self._score(version, DENSE, _unit(vector, scale), chunks)
        # Those that were not found have no vector, or are not there.
        if count < len(chunks) and self._count(version, _only(chunks)) < len(chunks):
            raise missing_version(version)
        return scores

    def read_vector(self, version: str, chunk: int) -> NDArray[np.float32]:
        """Return a vector (d,) in the direction of a chunk's; zero where it has none."""
        collection = self._collection(version)
        points = self._read(
            version,
            lambda: self._client.retrieve(
                collection, [chunk], with_payload=False, with_vectors=[DENSE]
            ),
        )
        if not points:
            raise missing_version(version)
        vectors = points[0].vector
        if isinstance(vectors, dict) and DENSE in vectors:
            return np.array(vectors[DENSE], dtype=np.float32)
        found = self._read(version, lambda: self._client.get_collection(collection))
        assert isinstance(found.config.params.vectors, dict)
        return np.zeros(found.config.params.vectors[DENSE].size, dtype=np.float32)

    def search_terms(
        self,
        version: str,
        terms: Sequence[tuple[int, int]],
        count: int,
        allowed: NDArray[np.bool_] | None,
    ) -> LaneHits:
        """Return the `count` chunks of highest BM25; those without any of the terms are no hits."""
        return self._search(version, SPARSE, _sparse(terms), count, allowed, exact=True)

    def score_terms(
        self, version: str, terms: Sequence[tuple[int, int]], chunks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the BM25 scores (m,) of given chunks (m,), ascending; 0 for one without the
        terms."""
        return self._score(version, SPARSE, _sparse(terms), chunks)[0]

    def check(self, version: str) -> None:
        """Ask whether this version can be searched: all of it, not what was loaded so far."""
        collection = self._collection(version)
        found = self._read(version, lambda: self._client.get_collection(collection))
        state = found.config.metadata or {}
        if not state.get("complete") or self._count(version, None) != state.get("chunks"):
            raise missing_version(version)

    def close(self) -> None:
        """Let go of all connections."""
        self._client.close()

    def _search(
        self,
        version: str,
        using: str,
        query: list[float] | models.SparseVector,
        count: int,
        allowed: NDArray[np.bool_] | None,
        *,
        exact: bool,
    ) -> LaneHits:
        depth, restriction = count + SPARE, _restrict(allowed)
        while True:
            numbers, scores = self._query(version, using, query, depth, restriction, exact=exact)
            # The engine breaks ties in an order of its own: all that tie with the last are needed.
            if len(scores) < depth or scores[-1] < scores[count - 1]:
                return best(numbers, scores, count)
            depth *= 4

    def _score(
        self,
        version: str,
        using: str,
        query: list[float] | models.SparseVector,
        chunks: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], int]:
        """Return the scores (m,) of given chunks (m,), and how many of them have one."""
        if not len(chunks):
            return np.zeros(0), 0
        size = len(chunks)
        numbers, found = self._query(version, using, query, size, _only(chunks), exact=True)
        scores = np.zeros(len(chunks))
        scores[np.searchsorted(chunks, numbers)] = found
        return scores, len(numbers)

    def _query(
        self,
        version: str,
        using: str,
        query: list[float] | models.SparseVector,
        count: int,
        restriction: models.Filter | None,
        *,
        exact: bool,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return chunks (m,) and scores (m,), best first; noise of float32 is rounded away."""
        points = self._read(
            version,
            lambda: self._client.query_points(
                self._collection(version),
                query=query,
                using=using,
                query_filter=restriction,
                limit=count,
                with_payload=False,
                search_params=self._params(exact, count, restriction),
                timeout=self._timeout,
            ),
        ).points
        numbers = np.array([point.id for point in points], dtype=np.int64)
        scores = np.array([point.score for point in points], dtype=np.float64)
        return numbers, _rounded(scores)

    def _count(self, version: str, restriction: models.Filter | None) -> int:
        collection = self._collection(version)
        return self._read(
            version,
            lambda: self._client.count(collection, restriction, exact=True, timeout=self._timeout),
        ).count

    def _read(self, version: str, call: Callable[[], Answer]) -> Answer:
        """Return what a call answers that only reads."""
        with translated(version):
            try:
                return call()
            except ResponseHandlingException as error:
                if is_timeout(error):
                    raise
                # A connection that stood idle may have been closed by the other side.
                return call()

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

    def _collection(self, version: str) -> str:
        return f"{self._settings.name}_{version}"


def open_engine(settings: StoreSettings) -> Engine:
    """Return the engine that QDRANT_URL names. Raises ConfigurationError."""
    return QdrantEngine(open_client(settings), settings, is_local=plays_engine())


def _rounded(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    fractions, exponents = np.frexp(scores)
    kept: NDArray[np.float64] = np.ldexp(np.rint(fractions * 2**BITS), exponents - BITS)
    return kept


def _unit(vector: NDArray[np.int8], scale: float) -> list[float]:
    unit: list[float] = (vector * scale).tolist()
    return unit


def _sparse(terms: Sequence[tuple[int, int]]) -> models.SparseVector:
    ordered = sorted(terms)
    return models.SparseVector(
        indices=[number for number, _ in ordered], values=[float(times) for _, times in ordered]
    )


def _only(chunks: NDArray[np.int64]) -> models.Filter:
    return models.Filter(must=[models.HasIdCondition(has_id=chunks.tolist())])


def _restrict(allowed: NDArray[np.bool_] | None) -> models.Filter | None:
    """Return the chunks that may be found, by their numbers, or those that may not if they are
    fewer."""
    if allowed is None:
        return None
    is_mostly = 2 * int(allowed.sum()) > len(allowed)
    numbers: list[Any] = np.flatnonzero(allowed != is_mostly).tolist()
    condition = models.HasIdCondition(has_id=numbers)
    return models.Filter(must_not=[condition]) if is_mostly else models.Filter(must=[condition])
