"""Publishes an index into PostgreSQL: one transaction, so all of it or nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import LiteralString

import psycopg
from psycopg import errors, sql

from foundry.errors import BusyError, PublishError
from foundry.progress import Reporter
from foundry.runtime.store.pgvector import PgvectorEngine, check_address
from foundry.runtime.store.pgvector_connections import Answer
from foundry.runtime.store.settings import StoreSettings
from foundry.stores.checking import Agreement, compare_lanes
from foundry.stores.content import Content
from foundry.stores.pgvector_copy import copy_chunks, copy_postings
from foundry.stores.request import Publication, PublishOptions

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
    "SELECT version FROM {versions} WHERE superseded <= now() - make_interval(secs => %s)"
    " ORDER BY version"
)
_DROP: tuple[LiteralString, ...] = (
    "DROP TABLE IF EXISTS {chunks}, {postings}",
    "DELETE FROM {versions} WHERE version = %(version)s",
)


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


def publish(
    content: Content, settings: StoreSettings, reporter: Reporter, options: PublishOptions
) -> Publication:
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
    return Publication(
        engine="pgvector",
        name=settings.name,
        version=content.version,
        chunks=len(content.scales),
        postings=len(content.impacts),
        recall=agreement.recall,
        difference=agreement.difference,
        loaded=loaded,
        dropped=tuple(dropped),
    )


def _load(
    connection: psycopg.Connection,
    content: Content,
    address: str,
    settings: StoreSettings,
    reporter: Reporter,
    *,
    again: bool,
) -> tuple[bool, Agreement]:
    name, version = settings.name, content.version
    row = connection.execute(
        "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [f"foundry {name}"]
    ).fetchone()
    if row is None or not row[0]:
        raise BusyError(
            f"PostgreSQL, schema {name}: another process is publishing into it",
            hint="wait for it to end",
        )
    _run(connection, _PREPARE, name, version)
    known = connection.execute(
        _compose("SELECT graph FROM {versions} WHERE version = %s", name, version), [version]
    ).fetchone()
    if known is not None and again:
        _run(connection, _DROP[:1], name, version)
        known = None
    if known is None:
        _run(connection, _CREATE, name, version, dimensions=content.vectors.shape[1])
        chunks = _compose("COPY {chunks} FROM STDIN (FORMAT binary)", name, version)
        copy_chunks(connection, chunks, content, reporter)
        postings = _compose("COPY {postings} FROM STDIN (FORMAT binary)", name, version)
        copy_postings(connection, postings, content, reporter)
        with reporter.step("Indexing", "tables", 2) as progress:
            for statement in _FINISH:
                _run(connection, (statement,), name, version)
                progress.advance()
    has_graph = known is not None and bool(known[0])
    if not settings.exact and not has_graph:
        with reporter.step("Linking", "graphs", 1) as progress:
            _run(connection, (_GRAPH,), name, version)
            progress.advance()
    _run(connection, _ANALYZE, name, version)
    _count(connection, content, name)
    with reporter.step("Comparing", "engines", 1) as progress:
        engine = _Unpublished(connection, address, settings)
        agreement = compare_lanes(content, engine, exact=settings.exact)
        progress.advance()
    values = {
        "version": version,
        "chunks": len(content.scales),
        "postings": len(content.impacts),
        "dimensions": content.vectors.shape[1],
        "graph": has_graph or not settings.exact,
        "recall": agreement.recall,
    }
    for statement in _SWITCH:
        connection.execute(_compose(statement, name, version), values)
    return known is None, agreement


def _count(connection: psycopg.Connection, content: Content, name: str) -> None:
    for statement, expected in (
        ("SELECT count(*) FROM {chunks}", len(content.scales)),
        ("SELECT count(*) FROM {postings}", len(content.impacts)),
    ):
        row = connection.execute(_compose(statement, name, content.version)).fetchone()
        if row is None or row[0] != expected:
            raise PublishError(
                f"PostgreSQL, schema {name}: {row and row[0]} rows of index {content.version},"
                f" expected {expected}; nothing was switched",
                hint="publish with --again, which loads this version anew",
            )


def _drop_stale(connection: psycopg.Connection, name: str, grace: float) -> list[str]:
    dropped = []
    for (version,) in connection.execute(_compose(_STALE, name, ""), [grace]).fetchall():
        with connection.transaction():
            # Waits for the searches that have begun.
            for statement in _DROP:
                connection.execute(_compose(statement, name, version), {"version": version})
        dropped.append(str(version))
    return dropped


def _run(
    connection: psycopg.Connection,
    statements: tuple[LiteralString, ...],
    name: str,
    version: str,
    dimensions: int = 0,
) -> None:
    for statement in statements:
        connection.execute(_compose(statement, name, version, dimensions))


def _compose(
    statement: LiteralString, name: str, version: str, dimensions: int = 0
) -> sql.Composed:
    return sql.SQL(statement).format(
        schema=sql.Identifier(name),
        versions=sql.Identifier(name, "versions"),
        pointer=sql.Identifier(name, "pointer"),
        chunks=sql.Identifier(name, f"chunks_{version}"),
        postings=sql.Identifier(name, f"postings_{version}"),
        graph=sql.Identifier(f"graph_{version}"),
        dimensions=sql.Literal(dimensions),
    )


@contextmanager
def _explained(name: str) -> Iterator[None]:
    place = f"PostgreSQL, schema {name}"
    try:
        yield
    except (errors.FeatureNotSupported, errors.UndefinedFile) as error:
        raise PublishError(
            f"{place}: {_first_line(error)}",
            hint="install pgvector 0.8 or later on the server of the database",
        ) from None
    except errors.InsufficientPrivilege as error:
        raise PublishError(
            f"{place}: {_first_line(error)}",
            hint="publish as a role that may create schemas and tables; the extension vector may"
            " have to be created by an administrator once",
        ) from None
    except (errors.UndefinedTable, errors.UndefinedColumn) as error:
        raise PublishError(
            f"{place}: {_first_line(error)}; nothing was switched",
            hint="publish with --again, which loads this version anew",
        ) from None
    except psycopg.OperationalError as error:
        raise PublishError(
            f"{place}: {_first_line(error)}; nothing was switched",
            hint="start it, or correct DATABASE_URL; then publish again",
        ) from None
    except psycopg.Error as error:
        raise PublishError(
            f"{place}: {_first_line(error)}; nothing was switched", hint="publish again"
        ) from None


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
