"""Publishes an index into PostgreSQL: one transaction, so all of it or nothing."""

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, LiteralString

import psycopg
from psycopg import errors, sql

from foundry.errors import BusyError, PublishError
from foundry.progress import Reporter
from foundry.runtime.store.pgvector import PgvectorEngine, check_address
from foundry.runtime.store.pgvector_connections import Answer
from foundry.runtime.store.settings import StoreSettings
from foundry.stores.checking import Agreement, Outcome, compare_lanes
from foundry.stores.content import Content, batches
from foundry.stores.request import AGAIN, PublishOptions

BATCH_ROWS = 10_000
"""Rows after which progress is reported."""

_LOCK: LiteralString = "SELECT pg_try_advisory_xact_lock(hashtextextended(%(lock)s, 0))"
_PREPARE: tuple[LiteralString, ...] = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    "CREATE SCHEMA IF NOT EXISTS {schema}",
    "CREATE TABLE IF NOT EXISTS {versions} (version text PRIMARY KEY, chunks bigint NOT NULL,"
    " postings bigint NOT NULL, dimensions int NOT NULL, graph boolean NOT NULL,"
    " recall float8 NOT NULL, published timestamptz NOT NULL DEFAULT now(),"
    " superseded timestamptz)",
    "CREATE TABLE IF NOT EXISTS {pointer} (one boolean PRIMARY KEY DEFAULT true CHECK (one),"
    " version text NOT NULL REFERENCES {versions})",
)
_CREATE: tuple[LiteralString, ...] = (
    "CREATE TABLE {chunks} (chunk int NOT NULL, vector halfvec({dimensions}) NOT NULL,"
    " scale real NOT NULL)",
    "CREATE TABLE {postings} (term int NOT NULL, chunk int NOT NULL, impact real NOT NULL)",
)
_FINISH: tuple[LiteralString, ...] = (
    "ALTER TABLE {chunks} ADD PRIMARY KEY (chunk)",
    "ALTER TABLE {postings} ADD PRIMARY KEY (term, chunk) INCLUDE (impact)",
)
_GRAPH: LiteralString = (
    "CREATE INDEX {graph} ON {chunks} USING hnsw (vector halfvec_cosine_ops) WHERE scale > 0"
)
_ANALYZE: tuple[LiteralString, ...] = ("ANALYZE {chunks}", "ANALYZE {postings}")
_SWITCH: tuple[LiteralString, ...] = (
    "INSERT INTO {versions} (version, chunks, postings, dimensions, graph, recall) VALUES"
    " (%(version)s, %(chunks)s, %(postings)s, %(dimensions)s, %(graph)s, %(recall)s)"
    " ON CONFLICT (version) DO UPDATE SET graph = excluded.graph, recall = excluded.recall,"
    " superseded = NULL",
    "UPDATE {versions} SET superseded = now() WHERE version <> %(version)s"
    " AND superseded IS NULL",
    "INSERT INTO {pointer} (version) VALUES (%(version)s)"
    " ON CONFLICT (one) DO UPDATE SET version = excluded.version",
)
_STALE: LiteralString = (
    "SELECT version FROM {versions} WHERE superseded <= now() - make_interval(secs => %(grace)s)"
    " ORDER BY version"
)
_DROP: tuple[LiteralString, ...] = (
    "DROP TABLE IF EXISTS {chunks}, {postings}",
    "DELETE FROM {versions} WHERE version = %(version)s",
)


_Row = tuple[int, int | bytes, float]


class _Unpublished(PgvectorEngine):
    """Searches in what the transaction of one connection has written."""

    def __init__(
        self, connection: psycopg.Connection, address: str, settings: StoreSettings
    ) -> None:
        super().__init__(address, settings)
        self._connection = connection

    def use(self, call: Callable[[psycopg.Connection], Answer]) -> Answer:
        """Return what a call answers on the one connection."""
        return call(self._connection)


@dataclass(frozen=True, slots=True)
class _Tables:
    """The tables of one version in a schema, through a connection."""

    connection: psycopg.Connection
    schema: str
    version: str
    dimensions: int = 0

    def compose(self, statement: LiteralString) -> sql.Composed:
        return sql.SQL(statement).format(
            schema=sql.Identifier(self.schema),
            versions=sql.Identifier(self.schema, "versions"),
            pointer=sql.Identifier(self.schema, "pointer"),
            chunks=sql.Identifier(self.schema, f"chunks_{self.version}"),
            postings=sql.Identifier(self.schema, f"postings_{self.version}"),
            graph=sql.Identifier(f"graph_{self.version}"),
            dimensions=sql.Literal(self.dimensions),
        )

    def run(
        self, *statements: LiteralString, values: Mapping[str, object] | None = None
    ) -> list[tuple[Any, ...]]:
        """Run statements; returns the rows of the last one, if it has any."""
        for statement in statements:
            done = self.connection.execute(self.compose(statement), values)
        return done.fetchall() if done.description else []


def publish(
    content: Content, settings: StoreSettings, reporter: Reporter, options: PublishOptions
) -> Outcome:
    """Load, count, compare and switch in one transaction, then drop what is old.

    Whatever interrupts it, the version published before goes on being the current one. Raises
    PublishError, or BusyError while another publishes into the same schema.
    """
    address = check_address()
    with _explained(settings.name):
        with psycopg.connect(address, application_name="foundry-publish") as connection:
            loaded, agreement = _load(
                connection, content, address, settings, reporter, again=options.again
            )
        with psycopg.connect(address, autocommit=True) as connection:
            dropped = _drop_stale(connection, settings.name, options.grace)
    return Outcome(loaded, agreement, tuple(dropped))


def _load(
    connection: psycopg.Connection,
    content: Content,
    address: str,
    settings: StoreSettings,
    reporter: Reporter,
    *,
    again: bool,
) -> tuple[bool, Agreement]:
    tables = _Tables(connection, settings.name, content.version, content.vectors.shape[1])
    values: dict[str, object] = {"version": content.version, "lock": f"foundry {settings.name}"}
    ((is_locked,),) = tables.run(_LOCK, values=values)
    if not is_locked:
        raise BusyError(
            f"PostgreSQL, schema {settings.name}: another process is publishing into it",
            hint="wait for it to end",
        )
    tables.run(*_PREPARE)
    known = tables.run("SELECT graph FROM {versions} WHERE version = %(version)s", values=values)
    if known and again:
        tables.run(_DROP[0])
        known = []
    if not known:
        tables.run(*_CREATE)
        _copy(tables, content, reporter)
        with reporter.step("Indexing", "tables", 2) as progress:
            for statement in _FINISH:
                tables.run(statement)
                progress.advance()
    has_graph = bool(known and known[0][0])
    if not settings.exact and not has_graph:
        with reporter.step("Linking", "graphs", 1) as progress:
            tables.run(_GRAPH)
            progress.advance()
    tables.run(*_ANALYZE)
    _count(tables, content)
    with reporter.step("Comparing", "engines", 1) as progress:
        engine = _Unpublished(connection, address, settings)
        agreement = compare_lanes(content, engine, exact=settings.exact)
        progress.advance()
    values |= {
        "chunks": len(content.scales),
        "postings": len(content.impacts),
        "dimensions": tables.dimensions,
        "graph": has_graph or not settings.exact,
        "recall": agreement.recall,
    }
    tables.run(*_SWITCH, values=values)
    return not known, agreement


def _copy(tables: _Tables, content: Content, reporter: Reporter) -> None:
    terms = content.terms
    # How pgvector sends a halfvec: its dimensions, nothing, and its numbers.
    head = struct.pack(">hh", tables.dimensions, 0)

    def chunk_rows(part: slice) -> Iterable[_Row]:
        vectors = (head + vector.tobytes() for vector in content.vectors[part].astype(">f2"))
        return zip(count(part.start), vectors, content.scales[part].tolist(), strict=False)

    def posting_rows(part: slice) -> Iterable[_Row]:
        columns = (terms[part], content.chunks[part], content.impacts[part])
        return zip(*(column.tolist() for column in columns), strict=True)

    loads: tuple[tuple[LiteralString, int, str, Callable[[slice], Iterable[_Row]]], ...] = (
        ("chunks", len(content.scales), "bytea", chunk_rows),
        ("postings", len(terms), "int4", posting_rows),
    )
    for name, total, second, rows in loads:
        statement = tables.compose("COPY {" + name + "} FROM STDIN (FORMAT binary)")
        with (
            reporter.step("Loading", name, total) as progress,
            tables.connection.cursor() as cursor,
            cursor.copy(statement) as copy,
        ):
            copy.set_types(["int4", second, "float4"])
            for part in batches(total, BATCH_ROWS):
                for row in rows(part):
                    copy.write_row(row)
                progress.advance(part.stop - part.start)


def _count(tables: _Tables, content: Content) -> None:
    for statement, expected in (
        ("SELECT count(*) FROM {chunks}", len(content.scales)),
        ("SELECT count(*) FROM {postings}", len(content.impacts)),
    ):
        ((found,),) = tables.run(statement)
        if found != expected:
            raise PublishError(
                f"PostgreSQL, schema {tables.schema}: {found} rows of index {tables.version},"
                f" expected {expected}; nothing was switched",
                hint=AGAIN,
            )


def _drop_stale(connection: psycopg.Connection, name: str, grace: float) -> list[str]:
    dropped = []
    for (version,) in _Tables(connection, name, "").run(_STALE, values={"grace": grace}):
        with connection.transaction():
            # Waits for the searches that have begun.
            _Tables(connection, name, version).run(*_DROP, values={"version": version})
        dropped.append(str(version))
    return dropped


_HINTS: tuple[tuple[tuple[type[psycopg.Error], ...], str], ...] = (
    (
        (errors.FeatureNotSupported, errors.UndefinedFile),
        "install pgvector 0.8 or later on the server of the database",
    ),
    (
        (errors.InsufficientPrivilege,),
        "publish as a role that may create schemas and tables; the extension vector may"
        " have to be created by an administrator once",
    ),
    ((errors.UndefinedTable, errors.UndefinedColumn), AGAIN),
    ((psycopg.OperationalError,), "start it, or correct DATABASE_URL; then publish again"),
    ((psycopg.Error,), "publish again"),
)
"""Hints by kind of error; the first that fits is taken, since some are kinds of others."""


@contextmanager
def _explained(name: str) -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        first_line = str(error).strip().partition("\n")[0]
        raise PublishError(
            f"PostgreSQL, schema {name}: {first_line}; nothing was switched",
            hint=next(hint for kinds, hint in _HINTS if isinstance(error, kinds)),
        ) from None
