"""Publishes an index into PostgreSQL, step by step: what it lacks is loaded, then it is switched.

Rows that a version adds are loaded in transactions of their own, under numbers that no version has
yet, so nobody sees them. Then one transaction retires the rows that the version no longer has,
compares the answers, and moves the pointer. A publication that ended before that is continued: what
it has loaded is found again by its keys and codes.
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
from foundry.stores.options import AGAIN, STEP_QUESTIONS, PublishOptions
from foundry.stores.pgvector.loading import load_rows
from foundry.stores.pgvector.tables import (
    ANALYZE,
    BEFORE_ALL,
    BUCKETS,
    COUNT,
    COUNT_RECORDS,
    DROP_STALE,
    ENTER,
    GRAPH,
    IN_BUCKETS,
    INDEX,
    KNOWN,
    LOCK,
    POINT,
    PREPARE,
    RETIRE,
    REVIVE,
    TIP,
    UNUSED,
    Tables,
)
from foundry.stores.rows import Rows

BATCH_CHUNKS = 20_000
"""Chunks that are loaded in one transaction."""

UNLOCKING_SECONDS = 5.0
"""In which PostgreSQL has noticed that a publication has ended."""

ANALYZED_SHARE = 0.1
"""If more than this share of all rows is new, the planner is told at once."""


class _Unpublished(PgvectorEngine):
    """Searches in what the transaction of one connection has written."""

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
    """The rows of a version, and those that it no longer has; `added` are chunks that are new."""

    rows: VersionRows
    surplus: NDArray[np.int64]
    added: NDArray[np.int64]
    is_step: bool
    has_records: bool


def publish(
    content: Content, settings: StoreSettings, reporter: Reporter, options: PublishOptions
) -> Outcome:
    """Load what is missing, compare and switch in one transaction, then drop what is old.

    Whatever interrupts it, the version published before stays current, and the next publication
    continues with what has been loaded. Raises PublishError, or BusyError while another publishes
    into the same schema.
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
        dropped = _drop_stale(tables, options.grace)
    return Outcome(not known or options.again, agreement, tuple(dropped))


def _lock(tables: Tables) -> None:
    # PostgreSQL learns only a moment after a publication has ended that it has.
    until = time.monotonic() + UNLOCKING_SECONDS
    while tables.run(LOCK, values={"lock": f"foundry {tables.schema}"}) != [(True,)]:
        if time.monotonic() >= until:
            raise BusyError(
                f"PostgreSQL, schema {tables.schema}: another process is publishing into it",
                hint="wait for it to end",
            )
        time.sleep(0.05)


def _load(tables: Tables, rows: Rows, reporter: Reporter, *, again: bool) -> _Loaded:
    """Load the rows that are missing, some at a time; with `again` all of them."""
    found = tables.run(TIP)
    tip = VersionRows(*found[0]) if found else VersionRows(0, 1, 0, tables.dimensions, 1.0)
    # What only versions have retired that were dropped before others is there again.
    tables.run(REVIVE, of=tip)
    if again:
        tables.delete("row > %(last)s", {"last": tip.last})
        none = np.zeros(0, dtype=np.int64)
        difference = Difference(np.arange(len(rows)), none, shares_any=False)
    else:
        difference = _compare(tables, rows, tip)
    is_left = difference.surplus > tip.last
    if is_left.any():
        with tables.connection.transaction():
            left = {"rows": difference.surplus[is_left].tolist()}
            tables.delete("row = ANY(%(rows)s)", left)
    ((last,),) = tables.run("SELECT coalesce(max(row), 0) FROM {chunks}")
    begin = max(last, tip.last) + 1
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
    is_step = difference.shares_any
    return _Loaded(
        VersionRows(
            tip.number + 1,
            tip.first if is_step else begin,
            begin + len(added) - 1,
            tables.dimensions,
            rows.content.mean_length,
        ),
        difference.surplus[~is_left] if is_step else difference.surplus[:0],
        added,
        is_step and 2 * len(added) < len(rows),
        rows.records is not None,
    )


def _compare(tables: Tables, rows: Rows, tip: VersionRows) -> Difference:
    shift = bucket_shift(len(rows))

    def fetch(buckets: list[int]) -> Held:
        values = {"shift": shift, "buckets": buckets}
        return Held.of(tables.run(IN_BUCKETS, values=values, of=tip))

    summed = tables.run(BUCKETS, values={"shift": shift}, of=tip)
    return find_difference(rows.keys, rows.codes, summed, shift, fetch)


def _switch(
    tables: Tables,
    rows: Rows,
    loaded: _Loaded,
    engine: PgvectorEngine,
    reporter: Reporter,
    settings: StoreSettings,
) -> Agreement:
    """Make it a version, compare its answers, and point at it. Raises PublishError."""
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
    tables.run(ENTER, values=values, of=held)
    for query in (COUNT, COUNT_RECORDS)[: 1 + loaded.has_records]:
        ((count,),) = tables.run(query, of=held)
        if count != len(rows):
            raise PublishError(
                f"PostgreSQL, schema {tables.schema}: {count} rows of index {content.version},"
                f" expected {len(rows)}; nothing was switched",
                hint=AGAIN,
            )
    with reporter.step("Comparing", "engines", 1) as progress:
        most = STEP_QUESTIONS if loaded.is_step else None
        agreement = compare_lanes(
            content, engine, exact=settings.exact, most=most, near=loaded.added
        )
        if rows.records is not None:
            compare_records(rows.records, engine, content.edition, loaded.added)
        progress.advance()
    tables.run(*POINT, values={**values, "recall": agreement.recall})
    return agreement


def _drop_stale(tables: Tables, grace: float) -> list[str]:
    """Drop old versions, and the rows that only they had."""
    with tables.connection.transaction():
        dropped = tables.run(DROP_STALE, values={"grace": grace})
        unused = {"rows": [row for (row,) in tables.run(UNUSED)]}
        if unused["rows"]:
            tables.delete("row = ANY(%(rows)s)", unused)
            tables.run("DELETE FROM {retired} WHERE row = ANY(%(rows)s)", values=unused)
        tables.delete(BEFORE_ALL, {})
        tables.run("DELETE FROM {retired} WHERE " + BEFORE_ALL)
    return sorted(str(version) for (version,) in dropped)


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
    (
        (errors.ReadOnlySqlTransaction,),
        "publish to the server that this one follows: it only reads",
    ),
    (
        (errors.UndefinedColumn,),
        "the schema is that of another version of Foundry: drop it (DROP SCHEMA ... CASCADE), then"
        " publish again",
    ),
    ((errors.UndefinedTable,), AGAIN),
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
