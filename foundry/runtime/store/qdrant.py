"""Qdrant as the engine: a collection a version, with a dense and a sparse vector for each chunk.

Versions are collections `<name>_<version>`; the alias `<name>` is that of the version published
last. Points have the numbers of chunks, and a payload that filters ask for. Scores are computed in
float32, so they agree with those of the embedded index to about 1e-6. The keyword lane is always
exact: Qdrant reads its sparse index in full.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException

from ..retrieval.candidates import LaneHits
from .qdrant_client import (
    is_timeout,
    missing_version,
    open_client,
    plays_engine,
    translated,
    whole_seconds,
)
from .qdrant_filters import conditions_of
from .qdrant_requests import (
    DENSE,
    SPARE,
    SPARSE,
    Query,
    Requests,
    by_number,
    by_terms,
    by_vector,
    read_points,
    settle,
)
from .restriction import Restriction
from .settings import StoreSettings
from .store import Edition, Engine, Found, is_short

Answer = TypeVar("Answer")

FORMAT = 2
"""Of the points of a collection, as its metadata has it: since 2 they have a payload."""


class QdrantEngine:
    """Searches in the collections of one Qdrant; see `store.Engine`."""

    def __init__(
        self, client: QdrantClient, settings: StoreSettings, *, is_local: bool = False
    ) -> None:
        """`is_local` is true of a client that emulates the engine in this process."""
        self._client = client
        self._requests = Requests(is_local)
        self._settings = settings
        self._timeout = whole_seconds(settings)

    def search_vector(
        self,
        edition: Edition,
        vector: NDArray[np.int8],
        scale: float,
        count: int,
        only: Restriction | None,
    ) -> LaneHits:
        """Return the `count` chunks of highest cosine; those without a vector are no hits."""
        query, exact = by_vector(vector, scale), self._settings.exact
        hits = self._search(edition, DENSE, query, count, only, exact=exact)
        if exact or not is_short(hits, count, only):
            return hits
        return self._search(edition, DENSE, query, count, only, exact=True)

    def score_vector(
        self, edition: Edition, vector: NDArray[np.int8], scale: float, chunks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the cosines (m,) of given chunks (m,), ascending; 0 for one without a vector."""
        return self._score_both(edition, by_vector(vector, scale), chunks, [], chunks[:0])[0]

    def read_vector(self, edition: Edition, chunk: int) -> NDArray[np.float32]:
        """Return a vector (d,) in the direction of a chunk's; zero where it has none."""
        collection = self._collection(edition)
        points = self._read(
            edition,
            lambda: self._client.retrieve(
                collection, [chunk], with_payload=False, with_vectors=[DENSE]
            ),
        )
        if not points:
            raise missing_version(edition.version)
        vectors = points[0].vector
        if isinstance(vectors, dict) and DENSE in vectors:
            return np.array(vectors[DENSE], dtype=np.float32)
        found = self._read(edition, lambda: self._client.get_collection(collection))
        assert isinstance(found.config.params.vectors, dict)
        return np.zeros(found.config.params.vectors[DENSE].size, dtype=np.float32)

    def search_terms(
        self,
        edition: Edition,
        terms: Sequence[tuple[int, int]],
        count: int,
        only: Restriction | None,
    ) -> LaneHits:
        """Return the `count` chunks of highest BM25; those without any of the terms are no hits."""
        return self._search(edition, SPARSE, by_terms(terms), count, only, exact=True)

    def score_terms(
        self, edition: Edition, terms: Sequence[tuple[int, int]], chunks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the BM25 scores (m,) of given chunks (m,), ascending; 0 for one without the
        terms."""
        return self._score_both(edition, [], chunks[:0], by_terms(terms), chunks)[1]

    def search_both(
        self,
        edition: Edition,
        vector: NDArray[np.int8],
        scale: float,
        terms: Sequence[tuple[int, int]],
        count: int,
        only: Restriction | None,
    ) -> Found:
        """Return what both searches find: one request for the hits, and one to complete them."""
        exact, meant, named = self._settings.exact, by_vector(vector, scale), by_terms(terms)
        depth, restriction = count + SPARE, conditions_of(only, edition)
        near, matching = self._query(
            edition,
            self._requests.make(DENSE, meant, depth, restriction, exact=exact),
            self._requests.make(SPARSE, named, depth, restriction, exact=True),
        )
        semantic, keyword = settle(*near, count, depth), settle(*matching, count, depth)
        if semantic is None or (not exact and is_short(semantic, count, only)):
            semantic = self.search_vector(edition, vector, scale, count, only)
        if keyword is None:
            keyword = self.search_terms(edition, terms, count, only)
        only_near = np.setdiff1d(semantic.chunks, keyword.chunks)
        only_matching = np.setdiff1d(keyword.chunks, semantic.chunks)
        return Found(
            keyword,
            semantic,
            lambda: self._score_both(edition, meant, only_matching, named, only_near),
        )

    def check(self, edition: Edition) -> None:
        """Ask whether this version can be searched: all of it, not what was loaded so far."""
        collection = self._collection(edition)
        found = self._read(edition, lambda: self._client.get_collection(collection))
        state = found.config.metadata or {}
        is_whole = state.get("complete") and state.get("format") == FORMAT
        if not is_whole or self._count(edition, None) != state.get("chunks"):
            raise missing_version(edition.version)

    def close(self) -> None:
        """Let go of all connections."""
        self._client.close()

    def _search(
        self,
        edition: Edition,
        using: str,
        query: Query,
        count: int,
        only: Restriction | None,
        *,
        exact: bool,
    ) -> LaneHits:
        depth, restriction = count + SPARE, conditions_of(only, edition)
        while True:
            request = self._requests.make(using, query, depth, restriction, exact=exact)
            (found,) = self._query(edition, request)
            if (hits := settle(*found, count, depth)) is not None:
                return hits
            depth *= 4

    def _score_both(
        self,
        edition: Edition,
        vector: Query,
        near: NDArray[np.int64],
        terms: Query,
        matching: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the cosines (m,) of `near` and the BM25 scores (k,) of `matching`, ascending."""
        cosines, sums = np.zeros(len(near)), np.zeros(len(matching))
        requests = []
        if len(near):
            requests.append(
                self._requests.make(DENSE, vector, len(near), by_number(near), exact=True)
            )
        if len(matching):
            wanted = by_number(matching)
            requests.append(self._requests.make(SPARSE, terms, len(matching), wanted, exact=True))
        answers = self._query(edition, *requests) if requests else []
        if len(matching):
            numbers, scores = answers.pop()
            sums[np.searchsorted(matching, numbers)] = scores
        if len(near):
            numbers, scores = answers.pop()
            cosines[np.searchsorted(near, numbers)] = scores
            # Those that were not found have no vector, or are not there.
            if len(numbers) < len(near) and self._count(edition, by_number(near)) < len(near):
                raise missing_version(edition.version)
        return cosines, sums

    def _query(
        self, edition: Edition, *requests: models.QueryRequest
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Return chunks (m,) and scores (m,) for each request, best first, asked all at once."""
        answers = self._read(
            edition,
            lambda: self._client.query_batch_points(
                self._collection(edition), requests, timeout=self._timeout
            ),
        )
        return [read_points(answer.points) for answer in answers]

    def _count(self, edition: Edition, restriction: models.Filter | None) -> int:
        collection = self._collection(edition)
        return self._read(
            edition,
            lambda: self._client.count(collection, restriction, exact=True, timeout=self._timeout),
        ).count

    def _read(self, edition: Edition, call: Callable[[], Answer]) -> Answer:
        """Return what a call answers that only reads."""
        with translated(edition.version):
            try:
                return call()
            except ResponseHandlingException as error:
                if is_timeout(error):
                    raise
                # A connection that was idle may have been closed by the other side.
                return call()

    def _collection(self, edition: Edition) -> str:
        return f"{self._settings.name}_{edition.version}"


def open_engine(settings: StoreSettings) -> Engine:
    """Return the engine that QDRANT_URL names. Raises ConfigurationError."""
    return QdrantEngine(open_client(settings), settings, is_local=plays_engine())
