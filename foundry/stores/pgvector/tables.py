"""The tables of a schema in PostgreSQL, and the SQL statements of a publication."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from foundry.runtime.store.pgvector.queries import VISIBLE, VersionRows, tables_of

LOCK: LiteralString = "SELECT pg_try_advisory_lock(hashtextextended(%(lock)s, 0))"
PREPARE: tuple[LiteralString, ...] = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    "CREATE SCHEMA IF NOT EXISTS {schema}",
    "CREATE TABLE IF NOT EXISTS {versions} (version text PRIMARY KEY, number int NOT NULL,"
    " first bigint NOT NULL, last bigint NOT NULL, dimensions int NOT NULL,"
    " average float8 NOT NULL, chunks bigint NOT NULL, postings bigint NOT NULL,"
    " records boolean NOT NULL, recall float8 NOT NULL,"
    " published timestamptz NOT NULL DEFAULT now(), superseded timestamptz)",
    "CREATE TABLE IF NOT EXISTS {pointer} (one boolean PRIMARY KEY DEFAULT true CHECK (one),"
    " version text NOT NULL REFERENCES {versions})",
    "CREATE TABLE IF NOT EXISTS {chunks} (row bigint NOT NULL, key bigint NOT NULL,"
    " code bigint NOT NULL, modified bigint, marks bytea[] NOT NULL, paths bytea[] NOT NULL)",
    "CREATE TABLE IF NOT EXISTS {vectors} (row bigint NOT NULL,"
    " vector halfvec({dimensions}) NOT NULL, scale real NOT NULL)",
    "CREATE TABLE IF NOT EXISTS {postings} (term bigint NOT NULL, row bigint NOT NULL,"
    " count int NOT NULL, length int NOT NULL)",
    "CREATE TABLE IF NOT EXISTS {records} (row bigint NOT NULL, chunk bytea NOT NULL,"
    " document bytea)",
    "CREATE TABLE IF NOT EXISTS {retired} (row bigint PRIMARY KEY, until int NOT NULL)",
)
# The indexes are created after the first rows are loaded, which is faster than updating them row by
# row.
INDEX: tuple[LiteralString, ...] = (
    "CREATE UNIQUE INDEX IF NOT EXISTS chunks_row ON {chunks} (row)",
    "CREATE INDEX IF NOT EXISTS chunks_key ON {chunks} (key)",
    "CREATE INDEX IF NOT EXISTS chunks_marks ON {chunks} USING gin (marks)",
    "CREATE INDEX IF NOT EXISTS chunks_modified ON {chunks} (modified)",
    "CREATE UNIQUE INDEX IF NOT EXISTS {vectors_row} ON {vectors} (row)",
    "CREATE UNIQUE INDEX IF NOT EXISTS records_row ON {records} (row)",
    "CREATE UNIQUE INDEX IF NOT EXISTS postings_term ON {postings} (term, row)"
    " INCLUDE (count, length)",
    "CREATE INDEX IF NOT EXISTS postings_row ON {postings} (row)",
)
GRAPH: LiteralString = (
    "CREATE INDEX IF NOT EXISTS {graph} ON {vectors} USING hnsw (vector halfvec_cosine_ops)"
    " WHERE scale > 0"
)
ANALYZE: tuple[LiteralString, ...] = (
    "ANALYZE {chunks}",
    "ANALYZE {vectors}",
    "ANALYZE {postings}",
    "ANALYZE {records}",
    "ANALYZE {retired}",
)
LATEST: LiteralString = (
    "SELECT number, first, last, dimensions, average FROM {versions} ORDER BY number DESC LIMIT 1"
)
KNOWN: LiteralString = (
    "SELECT number, first, last, dimensions, average, records FROM {versions}"
    " WHERE version = %(version)s AND (records OR NOT %(records)s)"
)
# Rows of the latest version, and later rows, which an interrupted publication left.
_IN_LATEST_OR_LATER: LiteralString = f"(({VISIBLE}) OR one.row > {{last}})"
BUCKETS: LiteralString = (
    "SELECT key >> %(shift)s AS bucket, count(*), bit_xor(code) FROM {chunks} AS one"
    f" WHERE {_IN_LATEST_OR_LATER} GROUP BY bucket"
)
IN_BUCKETS: LiteralString = (
    "SELECT row, key, code FROM {chunks} AS one"
    f" WHERE {_IN_LATEST_OR_LATER} AND key >> %(shift)s = ANY(%(buckets)s)"
)
UNRETIRE: LiteralString = "DELETE FROM {retired} WHERE until > {number}"
COUNT: LiteralString = f"SELECT count(*) FROM {{chunks}} AS one WHERE {VISIBLE}"
COUNT_RECORDS: LiteralString = f"SELECT count(*) FROM {{records}} AS one WHERE {VISIBLE}"
RETIRE: LiteralString = "INSERT INTO {retired} SELECT unnest(%(rows)s::bigint[]), %(number)s"
INSERT_VERSION: LiteralString = (
    "INSERT INTO {versions} (version, number, first, last, dimensions, average, chunks, postings,"
    " records, recall) VALUES (%(version)s, {number}, {first}, {last}, {dimensions}, {average},"
    " %(chunks)s, %(postings)s, %(records)s, 0) ON CONFLICT (version) DO UPDATE SET"
    " number = excluded.number, first = excluded.first, last = excluded.last,"
    " dimensions = excluded.dimensions, average = excluded.average, records = excluded.records,"
    " superseded = NULL"
)
MAKE_CURRENT: tuple[LiteralString, ...] = (
    "UPDATE {versions} SET recall = %(recall)s WHERE version = %(version)s",
    "UPDATE {versions} SET superseded = now() WHERE version <> %(version)s"
    " AND superseded IS NULL",
    "INSERT INTO {pointer} (version) VALUES (%(version)s)"
    " ON CONFLICT (one) DO UPDATE SET version = excluded.version",
)
DROP_STALE: LiteralString = (
    "DELETE FROM {versions} WHERE superseded <= now() - make_interval(secs => %(grace)s)"
    " RETURNING version"
)
# Rows that no remaining version has: retired ones, and those older than every version.
UNUSED: LiteralString = (
    "SELECT row FROM {retired} AS gone WHERE row <= (SELECT max(last) FROM {versions})"
    " AND NOT EXISTS (SELECT FROM {versions} WHERE number < gone.until"
    " AND gone.row BETWEEN first AND last)"
)
BEFORE_EVERY_VERSION: LiteralString = "row < (SELECT min(first) FROM {versions})"
_SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"
"""Header and trailer of the binary format of COPY."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of one schema, accessed through a connection."""

    connection: psycopg.Connection
    schema: str
    dimensions: int

    def run(
        self,
        *statements: LiteralString,
        values: Mapping[str, object] | None = None,
        of: VersionRows | None = None,
    ) -> list[tuple[Any, ...]]:
        """Run statements about a version's rows; return the result of the last one, if any."""
        names = self._names(of)
        for statement in statements:
            done = self.connection.execute(sql.SQL(statement).format(**names), values)
        return done.fetchall() if done.description else []

    def copy(self, name: LiteralString, content: bytes) -> None:
        """Load rows in the binary format of COPY."""
        statement = sql.SQL("COPY {" + name + "} FROM STDIN (FORMAT binary)")
        with (
            self.connection.cursor() as cursor,
            cursor.copy(statement.format(**self._names(None))) as copy,
        ):
            copy.write(_SIGNATURE + content + _END)

    def delete(self, condition: LiteralString, values: Mapping[str, object]) -> None:
        """Delete chunks that match a condition, with their vectors, postings and records."""
        for name in (*self._vector_tables(), "postings", "records", "chunks"):
            table = sql.Identifier(self.schema, name)
            statement = sql.SQL("DELETE FROM {table} WHERE " + condition)
            query = statement.format(table=table, **self._names(None))
            self.connection.execute(query, values)

    def _vector_tables(self) -> list[str]:
        found = self.connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s"
            r" AND tablename ~ '^vectors_[0-9]+$'",
            [self.schema],
        )
        return [name for (name,) in found]

    def _names(self, rows: VersionRows | None) -> dict[str, sql.Composable]:
        return {
            "vectors": sql.Identifier(self.schema, f"vectors_{self.dimensions}"),
            "vectors_row": sql.Identifier(f"vectors_{self.dimensions}_row"),
            "graph": sql.Identifier(f"graph_{self.dimensions}"),
            "dimensions": sql.Literal(self.dimensions),
            **tables_of(self.schema, rows),
        }
