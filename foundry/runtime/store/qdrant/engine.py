"""Qdrant as the search engine: one collection, whose rows versions share; see `rows`.

A row has a dense vector and a sparse one of term frequencies weighted as in BM25; the query
contributes the inverse document frequencies. Scores are computed in float32, so they agree with
those of the embedded index to about 1e-6. The keyword lane is always exact: Qdrant scans its sparse
index in full.

Every search also requests the marker of its version. Rows are deleted only some time after the
marker, so a search that has seen the marker has seen all rows.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException

from ...index.protocols import LaneHits
from ...retrieval.quantising import QuantisedVector
from ..restriction import Restriction
from ..settings import StoreSettings
from ..store import Edition, Engine, Found, is_short
from .client import (
    is_local_mode,
    is_timeout,
    missing_version,
    open_client,
    translated,
    whole_seconds,
)
from .filters import by_chunks
from .requests import (
    SPARE,
    Query,
    Requests,
    by_terms,
    by_vector,
    marker_of,
    passing,
    read_points,
    resolve_ties,
)
from .rows import NUMBER, REASSIGNED, HeldVersion, marker_id, rows_of

Answer = TypeVar("Answer")
MakeRequests = Callable[[HeldVersion], list[models.QueryRequest]]

_NONE = np.zeros(0, dtype=np.int64)


class QdrantEngine:
    """Searches one collection in Qdrant; see `store.Engine`."""

    def __init__(
        self, client: QdrantClient, settings: StoreSettings, *, is_local: bool = False
    ) -> None:
        """Create the engine; `is_local` means the client is in local mode, without a server."""
        self._client = client
        self._requests = Requests(is_local)
        self._settings = settings
        self._timeout = whole_seconds(settings)
        self._known: dict[str, HeldVersion] = {}

    def search_vector(
        self,
        edition: Edition,
        vector: QuantisedVector,
        count: int,
        only: Restriction | None,
    ) -> LaneHits:
        """Return the `count` chunks of highest cosine, among those with a vector."""
        query, exact = by_vector(vector), self._settings.exact
        hits = self._search(edition, query, count, only, exact=exact)
        if exact or not is_short(hits, count, only):
            return hits
        return self._search(edition, query, count, only, exact=True)

    def score_vector(
        self, edition: Edition, vector: QuantisedVector, chunks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the cosines (m,) of chunks (m,), ascending; 0 for a chunk without a vector."""
        query = by_vector(vector)
        return self._score_both(edition, query, chunks, query, _NONE)[0]

    def search_terms(
        self,
        edition: Edition,
        terms: Sequence[tuple[int, int]],
        count: int,
        only: Restriction | None,
    ) -> LaneHits:
        """Return the `count` chunks of highest BM25, among those with any of the terms."""
        return self._search(edition, by_terms(edition, terms), count, only, exact=True)

    def score_terms(
        self, edition: Edition, terms: Sequence[tuple[int, int]], chunks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the BM25 scores (m,) of chunks (m,), ascending; 0 for one without the terms."""
        query = by_terms(edition, terms)
        return self._score_both(edition, query, _NONE, query, chunks)[1]

    def search_both(
        self,
        edition: Edition,
        vector: QuantisedVector,
        terms: Sequence[tuple[int, int]],
        count: int,
        only: Restriction | None,
    ) -> Found:
        """Return the candidates of both lanes; completing their scores takes a second request."""
        exact, depth = self._settings.exact, count + SPARE
        meant, named = by_vector(vector), by_terms(edition, terms)
        near, matching = self._rank(
            edition,
            lambda held: [
                self._requests.nearest(meant, depth, only, edition, held, exact=exact),
                self._requests.nearest(named, depth, only, edition, held, exact=True),
            ],
        )
        semantic, keyword = resolve_ties(*near, count, depth), resolve_ties(*matching, count, depth)
        if semantic is None or (not exact and is_short(semantic, count, only)):
            semantic = self.search_vector(edition, vector, count, only)
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
        """Raise StoreError unless this version can be searched."""
        self._known.pop(edition.version, None)
        (rows,) = self.ask(edition, lambda held: [passing(rows_of(held.number), 1)])
        if not rows:
            raise missing_version(edition.version)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def ask(self, edition: Edition, make: MakeRequests) -> list[list[models.ScoredPoint]]:
        """Return the points for each request, all from the same state of a version."""
        while True:
            held = self._known.get(edition.version) or self._look_up(edition)
            *answers, marker = self.query(edition, [*make(held), marker_of(edition.version, held)])
            if marker:
                return answers
            # The version may have been published again in between, with other rows.
            self._known.pop(edition.version, None)

    def query(
        self, edition: Edition, requests: list[models.QueryRequest]
    ) -> list[list[models.ScoredPoint]]:
        """Return the points for each request, using one exchange."""
        answers = self._read(
            edition,
            lambda: self._client.query_batch_points(
                self._settings.name, requests, timeout=self._timeout
            ),
        )
        return [answer.points for answer in answers]

    def _look_up(self, edition: Edition) -> HeldVersion:
        """Read the marker of a version. Raises VersionMissingError."""
        markers = self._read(
            edition,
            lambda: self._client.retrieve(
                self._settings.name, [marker_id(edition.version)], with_payload=[NUMBER, REASSIGNED]
            ),
        )
        said = (markers[0].payload or {}) if markers else {}
        if said.get(NUMBER, 0) < 1:
            raise missing_version(edition.version)
        reassigned = {int(key): slot for key, slot in said[REASSIGNED].items()}
        held = self._known[edition.version] = HeldVersion(said[NUMBER], reassigned)
        return held

    def _search(
        self, edition: Edition, query: Query, count: int, only: Restriction | None, *, exact: bool
    ) -> LaneHits:
        depth = count + SPARE

        def make(held: HeldVersion) -> list[models.QueryRequest]:
            return [self._requests.nearest(query, depth, only, edition, held, exact=exact)]

        while True:
            (found,) = self._rank(edition, make)
            if (hits := resolve_ties(*found, count, depth)) is not None:
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
        pairs = [(vector, near, cosines), (terms, matching, sums)]
        asked = [(query, chunks, scores) for query, chunks, scores in pairs if len(chunks)]
        if not asked:
            return cosines, sums
        answers = self._rank(
            edition,
            lambda held: [
                self._requests.scores(query, chunks, edition, held) for query, chunks, _ in asked
            ],
        )
        for (_, chunks, scores), (numbers, found) in zip(asked, answers, strict=True):
            scores[np.searchsorted(chunks, numbers)] = found
        # Chunks without a score have no vector, or no row.
        if len(near) and len(answers[0][0]) < len(near) and self._lacks(edition, near):
            raise missing_version(edition.version)
        return cosines, sums

    def _lacks(self, edition: Edition, chunks: NDArray[np.int64]) -> bool:
        """Return whether some of the chunks have no row."""
        wanted, count = by_chunks(chunks, edition), len(chunks)
        (rows,) = self.ask(edition, lambda held: [passing(rows_of(held.number, wanted), count)])
        return len(rows) < count

    def _rank(
        self, edition: Edition, make: MakeRequests
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Return chunks (m,) and scores (m,), best first, for each request."""
        return [read_points(points, edition) for points in self.ask(edition, make)]

    def _read(self, edition: Edition, call: Callable[[], Answer]) -> Answer:
        """Return the result of a read-only call."""
        with translated(edition.version):
            try:
                return call()
            except ResponseHandlingException as error:
                if is_timeout(error):
                    raise
                # The server may have closed an idle connection.
                return call()


def open_engine(settings: StoreSettings) -> Engine:
    """Return the engine at QDRANT_URL. Raises ConfigurationError."""
    return QdrantEngine(open_client(settings), settings, is_local=is_local_mode())
