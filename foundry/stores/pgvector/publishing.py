"""Publishes an index into PostgreSQL: loads missing rows, then switches to the new version.

New rows are loaded in separate transactions, under row numbers that no version has yet, so searches
do not see them. Then one transaction retires old rows, compares answers, and sets the pointer. A
publication that was interrupted before that is resumed: the rows that it loaded are recognised by
their keys and codes.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import errors

from foundry.errors import BusyError, PublishError
from foundry.progress import Reporter
from foundry.runtime.store.pgvector.connections import Answer, check_address
from foundry.runtime.store.pgvector.engine import PgvectorEngine
from foundry.runtime.store.pgvector.queries import VersionRows
from foundry.runtime.store.settings import StoreSettings
from foundry.stores.checking import Agreement, Outcome, compare_lanes, compare_records
from foundry.stores.content import Content, batches
from foundry.stores.differing import Difference, Held, bucket_shift, find_difference
from foundry.stores.options import (
    AGAIN,
    INCREMENTAL_QUESTIONS,
    NOT_DROPPED,
    UNCHANGED,
    PublishOptions,
)
from foundry.stores.pgvector.loading import load_rows
from foundry.stores.pgvector.tables import (
    ANALYZE,
    BEFORE_EVERY_VERSION,
    BUCKETS,
    COUNT,
    COUNT_RECORDS,
    DROP_STALE,
    GRAPH,
    IN_BUCKETS,
    INDEX,
    INSERT_VERSION,
    KNOWN,
    LATEST,
    LOCK,
    MAKE_CURRENT,
    PREPARE,
    RETIRE,
    UNRETIRE,
    UNUSED,
    Tables,
)
from foundry.stores.rows import Rows

BATCH_CHUNKS = 20_000
"""Chunks loaded in one transaction."""

UNLOCKING_SECONDS = 5.0
"""Time within which PostgreSQL releases the lock of a publication that has ended."""

ANALYZED_SHARE = 0.1
"""If more than this share of the rows is new, tables are analysed at once."""


class _Unpublished(PgvectorEngine):
    """Runs searches in the open transaction of a single connection."""

    def __init__(
        self, connection: psycopg.Connection, address: str, settings: StoreSettings
    ) -> None:
        super().__init__(address, settings)
        self._connection = connection

    def use(self, call: Callable[[psycopg.Connection], Answer]) -> Answer:
        """Run a call on the single connection and return its result."""
        return call(self._connection)


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A version whose rows are all loaded.

    `surplus` are rows to retire, `added` are the chunks that the engine lacked. If the engine had
    most of the rows, the publication `is_incremental`.
    """

    rows: VersionRows
    surplus: NDArray[np.int64]
    added: NDArray[np.int64]
    is_incremental: bool
    has_records: bool


def publish(
    content: Content, settings: StoreSettings, reporter: Reporter, options: PublishOptions
) -> Outcome:
    """Load missing rows, compare and switch in one transaction, and drop stale versions.

    If it is interrupted, the previous version stays current, and the next publication reuses the
    rows that were loaded. Raises PublishError, or BusyError while another process publishes into
    the same schema.
    """
    address = check_address()
    rows = Rows.open(content, with_records=options.records)
    with (
        _explained(settings.name),
        psycopg.connect(address, autocommit=True, application_name="foundry-publish") as connection,
    ):
        tables = Tables(connection, settings.name, content.vectors.shape[1])
        _lock(tables)
        tables.run(*PREPARE)
        known = tables.run(KNOWN, values={"version": content.version, "records": options.records})
        nothing = np.zeros(0, dtype=np.int64)
        if known and not options.again:
            *found, has_records = known[0]
            loaded = _Loaded(VersionRows(*found), nothing, nothing, True, has_records)
        else:
            loaded = _load(tables, rows, reporter, again=options.again)
        if not settings.exact:
            with reporter.step("Linking", "graphs", 1) as progress:
                tables.run(GRAPH)
                progress.advance()
        with connection.transaction():
            engine = _Unpublished(connection, address, settings)
            agreement = _switch(tables, rows, loaded, engine, reporter, settings)
        with _explained(settings.name, NOT_DROPPED):
            dropped = _drop_stale(tables, options.grace)
    return Outcome(not known or options.again, agreement, tuple(dropped))


def _lock(tables: Tables) -> None:
    # The lock of a publication that was killed is released shortly afterwards.
    until = time.monotonic() + UNLOCKING_SECONDS
    while tables.run(LOCK, values={"lock": f"foundry {tables.schema}"}) != [(True,)]:
        if time.monotonic() >= until:
            raise BusyError(
                f"PostgreSQL, schema {tables.schema}: another process is publishing into it",
                hint="wait until it has finished",
            )
        time.sleep(0.05)


def _load(tables: Tables, rows: Rows, reporter: Reporter, *, again: bool) -> _Loaded:
    """Load the rows that the latest version lacks; with `again`, all of them."""
    found = tables.run(LATEST)
    latest = VersionRows(*found[0]) if found else VersionRows(0, 1, 0, tables.dimensions, 1.0)
    # Restore rows that were retired only by versions dropped since.
    tables.run(UNRETIRE, of=latest)
    if again:
        tables.delete("row > %(last)s", {"last": latest.last})
        none = np.zeros(0, dtype=np.int64)
        difference = Difference(np.arange(len(rows)), none, shares_any=False)
    else:
        difference = _compare(tables, rows, latest)
    is_leftover = difference.surplus > latest.last
    if is_leftover.any():
        with tables.connection.transaction():
            leftover = {"rows": difference.surplus[is_leftover].tolist()}
            tables.delete("row = ANY(%(rows)s)", leftover)
    ((last,),) = tables.run("SELECT coalesce(max(row), 0) FROM {chunks}")
    begin = max(last, latest.last) + 1
    added = difference.missing
    with reporter.step("Loading", "chunks", len(added)) as progress:
        for part in batches(len(added), BATCH_CHUNKS):
            with tables.connection.transaction():
                load_rows(tables, rows, added[part], begin + part.start)
            progress.advance(part.stop - part.start)
    with reporter.step("Indexing", "tables", 1) as progress:
        tables.run(*INDEX)
        if len(added) > ANALYZED_SHARE * len(rows):
            tables.run(*ANALYZE)
        progress.advance()
    is_incremental = difference.shares_any
    return _Loaded(
        VersionRows(
            latest.number + 1,
            latest.first if is_incremental else begin,
            begin + len(added) - 1,
            tables.dimensions,
            rows.content.mean_length,
        ),
        difference.surplus[~is_leftover] if is_incremental else difference.surplus[:0],
        added,
        is_incremental and 2 * len(added) < len(rows),
        rows.records is not None,
    )


def _compare(tables: Tables, rows: Rows, latest: VersionRows) -> Difference:
    shift = bucket_shift(len(rows))

    def fetch(buckets: list[int]) -> Held:
        values = {"shift": shift, "buckets": buckets}
        return Held.of(tables.run(IN_BUCKETS, values=values, of=latest))

    summed = tables.run(BUCKETS, values={"shift": shift}, of=latest)
    return find_difference(rows.keys, rows.codes, summed, shift, fetch)


def _switch(
    tables: Tables,
    rows: Rows,
    loaded: _Loaded,
    engine: PgvectorEngine,
    reporter: Reporter,
    settings: StoreSettings,
) -> Agreement:
    """Insert the version, compare its answers, and make it current. Raises PublishError."""
    content, held = rows.content, loaded.rows
    values: dict[str, object] = {
        "version": content.version,
        "chunks": len(rows),
        "postings": len(content.chunks),
        "rows": loaded.surplus.tolist(),
        "number": held.number,
        "records": loaded.has_records,
    }
    if len(loaded.surplus):
        tables.run(RETIRE, values=values)
    tables.run(INSERT_VERSION, values=values, of=held)
    for query in (COUNT, COUNT_RECORDS)[: 1 + loaded.has_records]:
        ((count,),) = tables.run(query, of=held)
        if count != len(rows):
            raise PublishError(
                f"PostgreSQL, schema {tables.schema}: {count} rows of index {content.version},"
                f" expected {len(rows)}; {UNCHANGED}",
                hint=AGAIN,
            )
    with reporter.step("Comparing", "engines", 1) as progress:
        most = INCREMENTAL_QUESTIONS if loaded.is_incremental else None
        agreement = compare_lanes(
            content, engine, exact=settings.exact, most=most, near=loaded.added
        )
        if rows.records is not None:
            compare_records(rows.records, engine, content.edition, loaded.added)
        progress.advance()
    tables.run(*MAKE_CURRENT, values={**values, "recall": agreement.recall})
    return agreement


def _drop_stale(tables: Tables, grace: float) -> list[str]:
    """Drop versions superseded at least `grace` seconds ago, and rows that only they had."""
    with tables.connection.transaction():
        dropped = tables.run(DROP_STALE, values={"grace": grace})
        unused = {"rows": [row for (row,) in tables.run(UNUSED)]}
        if unused["rows"]:
            tables.delete("row = ANY(%(rows)s)", unused)
            tables.run("DELETE FROM {retired} WHERE row = ANY(%(rows)s)", values=unused)
        tables.delete(BEFORE_EVERY_VERSION, {})
        tables.run("DELETE FROM {retired} WHERE " + BEFORE_EVERY_VERSION)
    return sorted(str(version) for (version,) in dropped)


_HINTS: tuple[tuple[tuple[type[psycopg.Error], ...], str], ...] = (
    (
        (errors.FeatureNotSupported, errors.UndefinedFile),
        "install pgvector 0.8 or later on the database server",
    ),
    (
        (errors.InsufficientPrivilege,),
        "publish as a role that may create schemas and tables; an administrator may first have to"
        " create the extension vector",
    ),
    (
        (errors.ReadOnlySqlTransaction,),
        "publish to the primary: this server is a read-only replica",
    ),
    (
        (errors.UndefinedColumn,),
        "the schema was created by a different version of Foundry: drop it (DROP SCHEMA ..."
        " CASCADE), then publish again",
    ),
    ((errors.UndefinedTable,), AGAIN),
    ((psycopg.OperationalError,), "start it, or correct DATABASE_URL; then publish again"),
    ((psycopg.Error,), "publish again"),
)
"""Hints by error class; the first match counts, since some classes are subclasses of others."""


@contextmanager
def _explained(name: str, state: str = UNCHANGED) -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        first_line = str(error).strip().partition("\n")[0]
        raise PublishError(
            f"PostgreSQL, schema {name}: {first_line}; {state}",
            hint=next(hint for kinds, hint in _HINTS if isinstance(error, kinds)),
        ) from None
