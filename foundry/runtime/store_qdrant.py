"""Qdrant as the engine: a collection a version, with a dense and a sparse vector for each chunk.

Versions are collections `<name>_<version>`; the alias `<name>` is that of the version published
last. Points have the numbers of chunks. Scores are computed in float32, so they agree with those of
the embedded index to about 1e-6. The keyword lane is always exact: Qdrant reads its sparse index in
full.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import (
    ApiException,
    ResponseHandlingException,
    UnexpectedResponse,
)

from .errors import ConfigurationError
from .lanes import LaneHits, best
from .store import (
    Engine,
    StoreError,
    StoreSlowError,
    StoreUnreachableError,
    VersionMissingError,
)
from .store_settings import StoreSettings, read_address

DENSE = "dense"
SPARSE = "bm25"
"""The vectors of a point."""

GRAPH_DEPTH = 512
"""Candidates that the graph keeps at the least (hnsw_ef)."""

SPARE = 20
"""Candidates beyond those wanted, among which chunk numbers settle ties at the end."""

BITS = 20
"""Of a score that are kept, of the 24 that float32 has, so that what is equal ties."""


class QdrantEngine:
    """Searches in the collections of one Qdrant; see `store.Engine`."""

    def __init__(
        self, client: QdrantClient, settings: StoreSettings, *, is_local: bool = False
    ) -> None:
        """`is_local` is said of a client that plays the engine itself."""
        self._client = client
        self._is_local = is_local
        self._settings = settings
        self._timeout = max(1, round(settings.timeout))

    def search_vector(
        self,
        version: str,
        vector: NDArray[np.int8],
        scale: float,
        count: int,
        allowed: NDArray[np.bool_] | None,
    ) -> LaneHits:
        """The `count` chunks of highest cosine; those without a vector are no hits."""
        query, exact = _unit(vector, scale), self._settings.exact
        return self._search(version, DENSE, query, count, allowed, exact=exact)

    def score_vector(
        self, version: str, vector: NDArray[np.int8], scale: float, chunks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The cosines (m,) of given chunks (m,), ascending; 0 for one without a vector."""
        return self._score(version, DENSE, _unit(vector, scale), chunks)

    def read_vector(self, version: str, chunk: int) -> NDArray[np.float32]:
        """A vector (d,) in the direction of a chunk's; zero where it has none."""
        with translated(version):
            points = self._client.retrieve(
                self._collection(version), [chunk], with_payload=False, with_vectors=[DENSE]
            )
            size = self._client.get_collection(self._collection(version)).config.params.vectors
        if not points:
            raise _missing(version)
        assert isinstance(size, dict)
        vectors = points[0].vector
        found = vectors.get(DENSE) if isinstance(vectors, dict) else None
        return np.zeros(size[DENSE].size, np.float32) if found is None else np.array(found, "f4")

    def search_terms(
        self,
        version: str,
        terms: Sequence[tuple[int, int]],
        count: int,
        allowed: NDArray[np.bool_] | None,
    ) -> LaneHits:
        """The `count` chunks of highest BM25; those without any of the terms are no hits."""
        return self._search(version, SPARSE, _sparse(terms), count, allowed, exact=True)

    def score_terms(
        self, version: str, terms: Sequence[tuple[int, int]], chunks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The BM25 scores (m,) of given chunks (m,), ascending; 0 for one without the terms."""
        return self._score(version, SPARSE, _sparse(terms), chunks)

    def check(self, version: str) -> None:
        """Ask whether this version can be searched."""
        with translated(version):
            points = self._client.scroll(
                self._collection(version), limit=1, with_payload=False, timeout=self._timeout
            )[0]
        if not points:
            raise _missing(version)

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
    ) -> NDArray[np.float64]:
        if not len(chunks):
            return np.zeros(0)
        wanted = models.Filter(must=[models.HasIdCondition(has_id=chunks.tolist())])
        numbers, found = self._query(version, using, query, len(chunks), wanted, exact=True)
        scores = np.zeros(len(chunks))
        scores[np.searchsorted(chunks, numbers)] = found
        return scores

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
        """Chunks (m,) and their scores (m,), best first; noise of float32 is rounded away."""
        with translated(version):
            points = self._client.query_points(
                self._collection(version),
                query=query,
                using=using,
                query_filter=restriction,
                limit=count,
                with_payload=False,
                search_params=self._params(exact, count),
                timeout=self._timeout,
            ).points
        numbers = np.array([point.id for point in points], dtype=np.int64)
        scores = np.array([point.score for point in points], dtype=np.float64)
        return numbers, _rounded(scores)

    def _params(self, exact: bool, count: int) -> models.SearchParams | None:
        if self._is_local:
            return None
        return models.SearchParams(exact=exact, hnsw_ef=None if exact else max(GRAPH_DEPTH, count))

    def _collection(self, version: str) -> str:
        return f"{self._settings.name}_{version}"


def open_client(settings: StoreSettings) -> QdrantClient:
    """A client of the Qdrant that QDRANT_URL names, with QDRANT_API_KEY if that is set.

    A file:// address is a folder in which the client itself plays the engine, for one process at a
    time: good for trying out, not for serving. Raises ConfigurationError.
    """
    address = read_address("QDRANT_URL", "http://localhost:6333")
    parts = urlsplit(address)
    if parts.scheme == "file":
        return QdrantClient(path=url2pathname(parts.path))
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username:
        raise ConfigurationError(
            "QDRANT_URL must be http or https, without a user",
            hint="set it such as QDRANT_URL=http://localhost:6333, and QDRANT_API_KEY beside it",
        )
    key = os.environ.get("QDRANT_API_KEY", "").strip() or None
    # The version of the server would be asked for here and now.
    return QdrantClient(
        url=address, api_key=key, timeout=max(1, round(settings.timeout)), check_compatibility=False
    )


def open_engine(settings: StoreSettings) -> Engine:
    """The engine that QDRANT_URL names. Raises ConfigurationError."""
    return QdrantEngine(open_client(settings), settings, is_local=plays_engine())


def plays_engine() -> bool:
    """Whether QDRANT_URL is a folder, in which the client plays the engine."""
    return os.environ.get("QDRANT_URL", "").strip().startswith("file:")


@contextmanager
def translated(version: str) -> Iterator[None]:
    """Raise what goes wrong in Qdrant as StoreError."""
    try:
        yield
    except UnexpectedResponse as error:
        if error.status_code == 404:
            raise _missing(version) from None
        if error.status_code in {408, 504}:
            raise _slow(error) from None
        raise StoreError(
            f"Qdrant refused a request: {error.status_code} {error.reason_phrase}",
            hint="check QDRANT_API_KEY and the state of the cluster",
        ) from None
    except ResponseHandlingException as error:
        # The source is an error of the library beneath, which may be another one some day.
        if any("Timeout" in kind.__name__ for kind in type(error.source).__mro__):
            raise _slow(error.source) from None
        raise StoreUnreachableError(
            f"Qdrant cannot be reached: {error.source}", hint="start it, or correct QDRANT_URL"
        ) from None
    except ApiException as error:
        raise StoreError(f"Qdrant failed: {error}", hint="see the log of the engine") from None
    except ValueError as error:
        # The client's local mode, of a collection that is not there.
        if "not found" not in str(error):
            raise
        raise _missing(version) from None


def _slow(error: Exception) -> StoreSlowError:
    return StoreSlowError(
        f"Qdrant did not answer in time: {type(error).__name__}",
        hint="see what it is busy with, or set a longer store.timeout_ms",
    )


def _missing(version: str) -> VersionMissingError:
    return VersionMissingError(
        f"Qdrant does not hold index {version}, or not all of it",
        hint="publish it: foundry publish; or deploy the export of the version that is there",
    )


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


def _restrict(allowed: NDArray[np.bool_] | None) -> models.Filter | None:
    """The chunks that may be found, by their numbers, or those that may not if they are fewer."""
    if allowed is None:
        return None
    is_mostly = 2 * int(allowed.sum()) > len(allowed)
    numbers: list[Any] = np.flatnonzero(allowed != is_mostly).tolist()
    condition = models.HasIdCondition(has_id=numbers)
    return models.Filter(must_not=[condition]) if is_mostly else models.Filter(must=[condition])
