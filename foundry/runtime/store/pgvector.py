"""PostgreSQL with pgvector as the engine: tables of vectors and of postings, a pair a version.

A schema holds, for each version of the index,

    chunks_<version>    chunk, vector (int8 numbers as halfvec, which holds them exactly), scale
    postings_<version>  term, chunk, impact
    versions            what is there: sizes, and the recall of the graph where there is one
    pointer             the version published last

Sums and products are those that the embedded index computes, so scores are the same; with up to
1,040 dimensions to the last bit. Sparse vectors of pgvector are no substitute for the postings:
they hold 16,000 terms at most. A graph (HNSW) finds candidates only; what it finds is scored
exactly.
"""

from collections.abc import Callable, Sequence
from typing import Any, LiteralString

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from ..retrieval.candidates import LaneHits, best
from ..retrieval.settings import ConfigurationError
from .pgvector_connections import (
    Answer,
    Connections,
    PatientConnection,
    missing_version,
    translated,
)
from .settings import StoreSettings, read_address
from .store import Engine, Found, is_short

GRAPH_DEPTH = 200
"""Candidates that the graph delivers at the least (hnsw.ef_search), of 1,000 at the most."""

_ANY = "true"
_ALLOWED = "get_bit(%(allowed)s::bytea, chunk) = 1"
_COSINE = "-(vector <#> %(vector)s::halfvec) * scale::float8 * %(scale)s::float8"
_SUMS = (
    "SELECT chunk, sum(impact::float8 * times) AS score"
    " FROM {postings} JOIN unnest(%(terms)s::int[], %(times)s::float8[]) AS asked (term, times)"
    " USING (term)"
)
_SEARCH_VECTOR = (
    f"SELECT chunk, {_COSINE} AS score FROM {{chunks}} WHERE scale > 0 AND {{allowed}}"
    " ORDER BY score DESC, chunk LIMIT %(count)s"
)
_SEARCH_GRAPH = (
    f"SELECT chunk, {_COSINE} AS score FROM (SELECT * FROM {{chunks}} WHERE scale > 0 AND"
    " {allowed} ORDER BY vector <=> %(vector)s::halfvec LIMIT %(depth)s) AS near"
    " ORDER BY score DESC, chunk LIMIT %(count)s"
)
# Filtered chunks do not count: the graph is read on until enough have passed.
_REACH = (
    "SELECT set_config('hnsw.ef_search', %s, true),"
    " set_config('hnsw.iterative_scan', 'relaxed_order', true)"
)
_SCORE_VECTOR = f"SELECT chunk, {_COSINE} FROM {{chunks}} WHERE chunk = ANY(%(wanted)s)"
_READ_VECTOR = "SELECT vector::real[] FROM {chunks} WHERE chunk = %(chunk)s"
_SEARCH_TERMS = (
    f"{_SUMS} WHERE {{allowed}} GROUP BY chunk ORDER BY score DESC, chunk LIMIT %(count)s"
)
_SCORE_TERMS = f"{_SUMS} WHERE chunk = ANY(%(wanted)s) GROUP BY chunk"
# Arrays, because a planner expects few chunks of them, and reads no whole table.
_SEARCH_BOTH = (
    f"WITH near AS MATERIALIZED ({{near}}), matching AS MATERIALIZED ({_SEARCH_TERMS})"
    " SELECT 0, chunk, score FROM near UNION ALL SELECT 1, chunk, score FROM matching"
    f" UNION ALL SELECT 2, chunk, {_COSINE} FROM {{chunks}}"
    " WHERE chunk = ANY(ARRAY(SELECT chunk FROM matching EXCEPT SELECT chunk FROM near))"
    f" UNION ALL SELECT 3, chunk, score FROM ({_SUMS}"
    " WHERE chunk = ANY(ARRAY(SELECT chunk FROM near EXCEPT SELECT chunk FROM matching))"
    " GROUP BY chunk) AS added"
)
_CHECK = (
    "SELECT EXISTS (SELECT FROM {versions} WHERE version = %(version)s)"
    " AND EXISTS (SELECT FROM {chunks}) AND EXISTS (SELECT FROM {postings})"
)


class PgvectorEngine:
    """Searches in one schema of one database; see `store.Engine`."""

    def __init__(self, address: str, settings: StoreSettings) -> None:
        """Nothing is connected before the first call."""
        self._settings = settings
        self._address = address
        self._connections = Connections(address, settings)

    def search_vector(
        self,
        version: str,
        vector: NDArray[np.int8],
        scale: float,
        count: int,
        allowed: NDArray[np.bool_] | None,
    ) -> LaneHits:
        """Return the `count` chunks of highest cosine; those without a vector are no hits."""
        asked = {**_vector(vector, scale), **_bits(allowed), "count": count}
        if not self._settings.exact:
            hits = best(*self._ask(version, _SEARCH_GRAPH, {**asked, "depth": 2 * count}), count)
            if not is_short(hits, count, allowed):
                return hits
        return best(*self._ask(version, _SEARCH_VECTOR, asked), count)

    def score_vector(
        self, version: str, vector: NDArray[np.int8], scale: float, chunks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the cosines (m,) of given chunks (m,), ascending; 0 for one without a vector."""
        asked = {**_vector(vector, scale), "wanted": chunks.tolist()}
        numbers, scores = self._ask(version, _SCORE_VECTOR, asked)
        if len(numbers) < len(chunks):
            raise missing_version(version)
        return _spread(chunks, numbers, scores)

    def read_vector(self, version: str, chunk: int) -> NDArray[np.float32]:
        """Return a vector (d,) in the direction of a chunk's; zero where it has none."""
        rows = self._fetch(version, _READ_VECTOR, {"chunk": chunk})
        if not rows:
            raise missing_version(version)
        return np.array(rows[0][0], dtype=np.float32)

    def search_terms(
        self,
        version: str,
        terms: Sequence[tuple[int, int]],
        count: int,
        allowed: NDArray[np.bool_] | None,
    ) -> LaneHits:
        """Return the `count` chunks of highest BM25; those without any of the terms are no hits."""
        asked = {**_terms(terms), **_bits(allowed), "count": count}
        return best(*self._ask(version, _SEARCH_TERMS, asked), count)

    def score_terms(
        self, version: str, terms: Sequence[tuple[int, int]], chunks: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the BM25 scores (m,) of given chunks (m,), ascending; 0 for one without the
        terms."""
        asked = {**_terms(terms), "wanted": chunks.tolist()}
        return _spread(chunks, *self._ask(version, _SCORE_TERMS, asked))

    def search_both(
        self,
        version: str,
        vector: NDArray[np.int8],
        scale: float,
        terms: Sequence[tuple[int, int]],
        count: int,
        allowed: NDArray[np.bool_] | None,
    ) -> Found:
        """Return what both searches find; one query finds it all, and completes it."""
        asked = {**_vector(vector, scale), **_terms(terms), **_bits(allowed), "count": count}
        if not self._settings.exact:
            found = self._ask_both(version, _SEARCH_GRAPH, {**asked, "depth": 2 * count})
            if not is_short(found.semantic, count, allowed):
                return found
        return self._ask_both(version, _SEARCH_VECTOR, asked)

    def check(self, version: str) -> None:
        """Ask whether this version can be searched, over a connection of its own."""
        with (
            translated(version),
            PatientConnection.open(self._address, self._settings) as connection,
        ):
            query = self._compose(version, _CHECK, {})
            row = connection.execute(query, {"version": version}).fetchone()
        if row is None or not row[0]:
            raise missing_version(version)

    def close(self) -> None:
        """Let go of all connections."""
        self._connections.close()

    def use(self, call: Callable[[psycopg.Connection], Answer]) -> Answer:
        """Return the result of a call on a connection that nobody else is using."""
        return self._connections.use(call)

    def _ask(
        self, version: str, template: LiteralString, asked: dict[str, Any]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return chunks (m,) and their scores (m,), in any order; a graph is read to `depth`."""
        rows = self._fetch(version, template, asked)
        numbers = np.array([row[0] for row in rows], dtype=np.int64)
        return numbers, np.array([row[1] for row in rows], dtype=np.float64)

    def _ask_both(self, version: str, near: LiteralString, asked: dict[str, Any]) -> Found:
        """Return what both lanes find, the dense one by the query `near`."""
        rows = np.array(self._fetch(version, _SEARCH_BOTH.replace("{near}", near), asked))
        parts, numbers, scores = rows.reshape(-1, 3).T
        chunks = numbers.astype(np.int64)
        semantic, keyword = (
            best(chunks[parts == part], scores[parts == part], asked["count"]) for part in (0, 1)
        )
        only_near = np.setdiff1d(semantic.chunks, keyword.chunks, assume_unique=True)
        only_matching = np.setdiff1d(keyword.chunks, semantic.chunks, assume_unique=True)
        if np.count_nonzero(parts == 2) < len(only_matching):
            raise missing_version(version)
        cosines = _spread(np.sort(only_matching), chunks[parts == 2], scores[parts == 2])
        sums = _spread(np.sort(only_near), chunks[parts == 3], scores[parts == 3])
        return Found(keyword, semantic, lambda: (cosines, sums))

    def _fetch(
        self, version: str, template: LiteralString, asked: dict[str, Any]
    ) -> list[tuple[Any, ...]]:
        query = self._compose(version, template, asked)

        def fetch(connection: psycopg.Connection) -> list[tuple[Any, ...]]:
            if (depth := asked.get("depth")) is None:
                return connection.execute(query, asked).fetchall()
            # Sent together, which makes them one transaction: the reach is set for it alone.
            with connection.pipeline():
                connection.execute(_REACH, [str(min(1000, max(GRAPH_DEPTH, depth)))])
                found = connection.execute(query, asked)
            return found.fetchall()

        with translated(version):
            return self.use(fetch)

    def _compose(
        self, version: str, template: LiteralString, asked: dict[str, Any]
    ) -> sql.Composed:
        name = self._settings.name
        return sql.SQL(template).format(
            chunks=sql.Identifier(name, f"chunks_{version}"),
            postings=sql.Identifier(name, f"postings_{version}"),
            versions=sql.Identifier(name, "versions"),
            allowed=sql.SQL(_ALLOWED if "allowed" in asked else _ANY),
        )


def open_engine(settings: StoreSettings) -> Engine:
    """Return the engine that DATABASE_URL names. Raises ConfigurationError."""
    return PgvectorEngine(check_address(), settings)


def check_address() -> str:
    """Return what DATABASE_URL says. Raises ConfigurationError."""
    address = read_address("DATABASE_URL", "postgresql://reader@db.example.com/search")
    try:
        conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        # What the library says quotes the address, which may hold a password.
        raise ConfigurationError(
            "DATABASE_URL is no address of a PostgreSQL database",
            hint="write it as postgresql://user:password@host:port/database",
        ) from None
    return address


def _vector(vector: NDArray[np.int8], scale: float) -> dict[str, Any]:
    return {"vector": f"[{','.join(map(str, vector.tolist()))}]", "scale": scale}


def _terms(terms: Sequence[tuple[int, int]]) -> dict[str, Any]:
    return {"terms": [term for term, _ in terms], "times": [float(times) for _, times in terms]}


def _bits(allowed: NDArray[np.bool_] | None) -> dict[str, Any]:
    """Return the chunks that may be found as one bit each."""
    return {} if allowed is None else {"allowed": np.packbits(allowed, bitorder="little").tobytes()}


def _spread(
    chunks: NDArray[np.int64], numbers: NDArray[np.int64], scores: NDArray[np.float64]
) -> NDArray[np.float64]:
    spread = np.zeros(len(chunks))
    spread[np.searchsorted(chunks, numbers)] = scores
    return spread
