"""PostgreSQL with pgvector as the search engine; see `queries` for its tables.

Scores are computed as in the embedded index. Up to 1,040 dimensions, they are equal bit for bit;
beyond that, within the precision of float32. A graph (HNSW) only finds candidates, which are then
scored exactly.
"""

from collections.abc import Callable, Sequence
from typing import Any, LiteralString

import numpy as np
import psycopg
from numpy.typing import NDArray

from ...index.protocols import LaneHits
from ...retrieval.candidates import best
from ...retrieval.quantising import QuantisedVector
from ..restriction import Restriction
from ..settings import StoreSettings
from ..store import Edition, Engine, Found, is_short
from .connections import (
    Answer,
    Connections,
    TimedConnection,
    check_address,
    missing_version,
    translated,
)
from .queries import (
    CHECK,
    FIND_RECORDS,
    GRAPH_DEPTH,
    NEAREST,
    NEAREST_OF_GRAPH,
    READ_CHUNKS,
    READ_DOCUMENTS,
    SCORE_TERMS,
    SCORE_VECTOR,
    SEARCH_BOTH,
    SEARCH_GRAPH,
    SEARCH_TERMS,
    SEARCH_VECTOR,
    SET_GRAPH_DEPTH,
    UNCHANGED,
    VersionRows,
    asked_terms,
    asked_vector,
    compose,
)


class PgvectorEngine:
    """Searches one schema of one database; see `store.Engine`."""

    def __init__(self, address: str, settings: StoreSettings) -> None:
        """Create the engine; it connects on the first call."""
        self._settings = settings
        self._address = address
        self._connections = Connections(address, settings)
        self._known: dict[str, VersionRows] = {}

    def search_vector(
        self,
        edition: Edition,
        vector: QuantisedVector,
        count: int,
        only: Restriction | None,
    ) -> LaneHits:
        """Return the `count` chunks of highest cosine, among those with a vector."""
        asked = {**asked_vector(vector), "count": count}
        if not self._settings.exact:
            near = {**asked, "depth": 2 * count}
            hits = best(*self._ask(edition, SEARCH_GRAPH, near, only), count)
            if not is_short(hits, count, only):
                return hits
        return best(*self._ask(edition, SEARCH_VECTOR, asked, only), count)

    def score_vector(
        self, edition: Edition, vector: QuantisedVector, chunks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the cosines (m,) of chunks (m,), ascending; 0 for a chunk without a vector."""
        asked = {**asked_vector(vector), "wanted": edition.keys.by_number[chunks].tolist()}
        numbers, scores = self._ask(edition, SCORE_VECTOR, asked)
        if len(numbers) < len(chunks):
            raise missing_version(edition.version)
        return _spread(chunks, numbers, scores)

    def search_terms(
        self,
        edition: Edition,
        terms: Sequence[tuple[int, int]],
        count: int,
        only: Restriction | None,
    ) -> LaneHits:
        """Return the `count` chunks of highest BM25, among those with any of the terms."""
        asked = {**asked_terms(edition, terms), "count": count}
        return best(*self._ask(edition, SEARCH_TERMS, asked, only), count)

    def score_terms(
        self, edition: Edition, terms: Sequence[tuple[int, int]], chunks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the BM25 scores (m,) of chunks (m,), ascending; 0 for one without the terms."""
        wanted = edition.keys.by_number[chunks].tolist()
        asked = {**asked_terms(edition, terms), "wanted": wanted}
        return _spread(chunks, *self._ask(edition, SCORE_TERMS, asked))

    def search_both(
        self,
        edition: Edition,
        vector: QuantisedVector,
        terms: Sequence[tuple[int, int]],
        count: int,
        only: Restriction | None,
    ) -> Found:
        """Return the candidates of both lanes with the missing scores.

        This takes a single query, or a second one if the graph finds too few chunks.
        """
        asked = {**asked_vector(vector), **asked_terms(edition, terms), "count": count}
        if not self._settings.exact:
            near = {**asked, "depth": 2 * count}
            found = self._ask_both(edition, NEAREST_OF_GRAPH, near, only)
            if not is_short(found.semantic, count, only):
                return found
        return self._ask_both(edition, NEAREST, asked, only)

    def read_records(
        self, edition: Edition, chunks: NDArray[np.int64], *, of_documents: bool
    ) -> list[bytes]:
        """Return the JSON lines of chunks (m,), or of the documents that begin with them."""
        keys = edition.keys.by_number[chunks].tolist()
        template = READ_DOCUMENTS if of_documents else READ_CHUNKS
        found = dict(self._fetch(edition, template, {"wanted": keys}))
        if any(found.get(key) is None for key in keys):
            raise missing_version(edition.version)
        return [found[key] for key in keys]

    def find_records(
        self, edition: Edition, terms: Sequence[tuple[int, int]], count: int
    ) -> tuple[LaneHits, list[bytes]]:
        """Return the hits of `search_terms`, with the JSON lines of their chunks."""
        asked = {**asked_terms(edition, terms), "count": count}
        rows = self._fetch(edition, FIND_RECORDS, asked)
        numbers = _numbers(edition, [row[0] for row in rows])
        hits = best(numbers, np.array([row[1] for row in rows], dtype=np.float64), count)
        lines = dict(zip(numbers.tolist(), (row[2] for row in rows), strict=True))
        if None in lines.values():
            return hits, self.read_records(edition, hits.chunks, of_documents=False)
        return hits, [lines[number] for number in hits.chunks.tolist()]

    def check(self, edition: Edition) -> None:
        """Raise StoreError unless this version can be searched, over a separate connection."""
        with (
            translated(edition.version),
            TimedConnection.open(self._address, self._settings) as connection,
        ):
            self._look_up(connection, edition)

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()

    def use(self, call: Callable[[psycopg.Connection], Answer]) -> Answer:
        """Return the result of a call on a pooled connection."""
        return self._connections.use(call)

    def _ask(
        self,
        edition: Edition,
        template: LiteralString,
        asked: dict[str, Any],
        only: Restriction | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return chunks (m,) and their scores (m,), in any order.

        If `asked` has a `depth`, it sets how deep the graph is searched.
        """
        rows = self._fetch(edition, template, asked, only)
        scores = np.array([row[1] for row in rows], dtype=np.float64)
        return _numbers(edition, [row[0] for row in rows]), scores

    def _ask_both(
        self,
        edition: Edition,
        near: LiteralString,
        asked: dict[str, Any],
        only: Restriction | None,
    ) -> Found:
        """Return the candidates of both lanes; `near` is the SQL of the dense lane."""
        rows = self._fetch(edition, SEARCH_BOTH.replace("{near}", near), asked, only)
        parts = np.array([row[0] for row in rows], dtype=np.int64)
        chunks = _numbers(edition, [row[1] for row in rows])
        scores = np.array([row[2] for row in rows], dtype=np.float64)
        semantic, keyword = (
            best(chunks[parts == part], scores[parts == part], asked["count"]) for part in (0, 1)
        )
        # Some scores belong to chunks that tie with the last hit but are not hits.
        cosines, sums = (
            _pick(np.setdiff1d(some, others), chunks[is_own], scores[is_own])
            for some, others, is_own in (
                (keyword.chunks, semantic.chunks, parts % 2 == 0),
                (semantic.chunks, keyword.chunks, parts % 2 == 1),
            )
        )
        if np.isnan(cosines).any():
            raise missing_version(edition.version)
        return Found(keyword, semantic, lambda: (cosines, np.nan_to_num(sums)))

    def _fetch(
        self,
        edition: Edition,
        template: LiteralString,
        asked: dict[str, Any],
        only: Restriction | None = None,
    ) -> list[tuple[Any, ...]]:
        """Return the rows of a query, all from the same state of a version."""

        def fetch(connection: psycopg.Connection) -> list[tuple[Any, ...]] | None:
            known = self._known.get(edition.version) or self._look_up(connection, edition)
            query = compose(self._settings.name, edition, template, known, only)
            # A pipeline is one transaction, so the graph's depth applies only to it.
            with connection.pipeline():
                if (depth := asked.get("depth")) is not None:
                    connection.execute(SET_GRAPH_DEPTH, [str(min(1000, max(GRAPH_DEPTH, depth)))])
                found = connection.execute(query, asked, binary=True)
                # Rows are deleted together with their version, so if the version still exists, the
                # query has seen all its rows.
                still = connection.execute(compose(self._settings.name, edition, UNCHANGED, known))
            if still.rowcount:
                return found.fetchall()
            self._known.pop(edition.version, None)
            return None

        with translated(edition.version):
            # The version may have been published again in between, with other rows.
            while (rows := self.use(fetch)) is None:
                pass
            return rows

    def _look_up(self, connection: psycopg.Connection, edition: Edition) -> VersionRows:
        """Read the entry of a version. Raises VersionMissingError."""
        row = connection.execute(compose(self._settings.name, edition, CHECK)).fetchone()
        if row is None:
            self._known.pop(edition.version, None)
            raise missing_version(edition.version)
        known = self._known[edition.version] = VersionRows(*row)
        return known


def open_engine(settings: StoreSettings) -> Engine:
    """Return the engine at DATABASE_URL. Raises ConfigurationError."""
    return PgvectorEngine(check_address(), settings)


def _numbers(edition: Edition, keys: Sequence[int]) -> NDArray[np.int64]:
    """Return the chunks with these keys. Raises VersionMissingError for keys of other versions."""
    numbers = edition.keys.numbers(np.array(keys, dtype=np.int64))
    if numbers is None:
        raise missing_version(edition.version)
    return numbers


def _spread(
    chunks: NDArray[np.int64], numbers: NDArray[np.int64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    spread = np.zeros(len(chunks))
    spread[np.searchsorted(chunks, numbers)] = scores
    return spread


def _pick(
    wanted: NDArray[np.int64], chunks: NDArray[np.int64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the scores of wanted chunks, in their order; NaN for a chunk without a score."""
    by_chunk = dict(zip(chunks.tolist(), scores.tolist(), strict=True))
    return np.array([by_chunk.get(chunk, np.nan) for chunk in wanted.tolist()], dtype=np.float64)
