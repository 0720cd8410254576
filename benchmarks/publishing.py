"""Measures publications: `python benchmarks/publishing.py [--engine qdrant] [--chunks N ...]`.

A generated corpus (see `synthetic`) is built and published into an engine that is started here. It
is built and published again after a change of one document, of one in a hundred, and of all. A
relay counts the bytes to and from the engine. Times are the wall time of `publish`, and the
processor time in this process and in PostgreSQL, whose worker processes end with the publication.
With `--engine qdrant`, everything runs in this process: Qdrant's native shard, behind the HTTP
interface of the tests.
"""

import argparse
import json
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from common import build, machine, row
from engines import NAME, choose_store, process_of_postgres, running_postgres
from processes import seconds_of_ended
from synthetic import generated_project

from foundry.progress import Reporter
from foundry.runtime.index.layout import resolve_version
from foundry.runtime.store.settings import StoreSettings
from foundry.stores.content import Content
from foundry.stores.options import PublishOptions

SHARES = ("one", "1 %", "all")
TESTS = Path(__file__).resolve().parent.parent / "tests"
Address = str | tuple[str, int]

END_SECONDS = 0.5
"""Time within which a process of PostgreSQL ends after its connection was closed."""


class Counter:
    """Forwards an engine's bytes, and counts those `sent` to it and those `received`."""

    def __init__(self, target: Address) -> None:
        """Listen for connections to `target`: the path of a socket, or a host and a port."""
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.counts = {"sent": 0, "received": 0}
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            near, _ = self._listener.accept()
            far = socket.socket(socket.AF_UNIX if isinstance(self._target, str) else socket.AF_INET)
            far.connect(self._target)
            for source, sink, name in ((near, far, "sent"), (far, near, "received")):
                threading.Thread(target=self._pass, args=(source, sink, name), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, name: str) -> None:
        # The thread for the other direction may already have closed both sockets.
        with suppress(OSError):
            while piece := source.recv(1 << 16):
                self.counts[name] += len(piece)
                sink.sendall(piece)
        sink.close()


@contextmanager
def running(engine: str, place: Path) -> Iterator[tuple[Counter, int | None]]:
    """Run a separate engine behind a counter, whose address is in the environment.

    Yields the counter, and the id of the engine's parent process; None if the engine is in this
    process.
    """
    if engine == "pgvector":
        with running_postgres(place) as address:
            counter = Counter(f"{parse_qs(urlsplit(address).query)['host'][0]}/.s.PGSQL.5432")
            os.environ["DATABASE_URL"] = f"postgresql://postgres@127.0.0.1:{counter.port}/postgres"
            yield counter, process_of_postgres(place)
        return
    sys.path.append(str(TESTS))
    with import_module("native_qdrant").running_qdrant(
        place / "shards", is_checked=False
    ) as native:
        parts = urlsplit(native.address)
        counter = Counter((str(parts.hostname), int(parts.port or 0)))
        os.environ["QDRANT_URL"] = f"http://127.0.0.1:{counter.port}"
        yield counter, None


def change(project: Path, share: str, edition: int) -> None:
    """Change the first document, every hundredth one, or all of them."""
    file = project / "corpus.jsonl"
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    step = {"one": len(records), "1 %": 100, "all": 1}[share]
    for record in records[::step]:
        record["text"] = "\n\n".join(
            f"{text} edition{edition}" for text in record["text"].split("\n\n")
        )
    lines = "".join(json.dumps(record) + "\n" for record in records)
    file.write_text(lines, encoding="utf-8")


def report(folder: Path, chunks: int, engine: str, *, exact: bool) -> None:
    """Print the rows of one corpus."""
    publish = import_module(f"foundry.stores.{engine}.publishing").publish
    project = generated_project(folder, chunks)
    choose_store(project, engine=engine)
    with (
        tempfile.TemporaryDirectory(prefix="bench-engine-", dir="/tmp") as place,
        running(engine, Path(place)) as (counter, process),
    ):
        for number, share in enumerate(("", *SHARES)):
            if share:
                change(project, share, number)
            build(project)
            content = Content.open(resolve_version(project / ".foundry" / "index"))
            before, ended = dict(counter.counts), process and seconds_of_ended(process)
            begun, used = time.perf_counter(), time.process_time()
            publish(
                content,
                StoreSettings(NAME, exact, 60.0),
                Reporter(quiet=True),
                PublishOptions(grace=3600),
            )
            seconds, used = time.perf_counter() - begun, time.process_time() - used
            time.sleep(END_SECONDS)
            sent, received = (
                (counter.counts[name] - before[name]) / 1e6 for name in ("sent", "received")
            )
            row(
                f"{chunks:,}",
                share or "first",
                f"{seconds:.2f}",
                f"{used:.2f}",
                f"{seconds_of_ended(process) - ended:.2f}" if process and ended is not None else "",
                f"{sent:.2f}",
                f"{received:.2f}",
            )


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000])
    parser.add_argument("--engine", choices=("pgvector", "qdrant"), default="pgvector")
    parser.add_argument("--graph", action="store_true", help="with a graph of the vectors")
    parser.add_argument("--folder", type=Path, help="keep the corpora here; they are changed")
    chosen = parser.parse_args()
    print(machine(), end="\n\n")
    columns = "chunks|changed documents|s|s of a core here|in PostgreSQL|MB sent|MB received"
    row(*columns.split("|"))
    row(*["---"] * 7)
    with tempfile.TemporaryDirectory() as work:
        for chunks in chosen.chunks:
            report(chosen.folder or Path(work), chunks, chosen.engine, exact=not chosen.graph)
    return 0


if __name__ == "__main__":
    os.environ.pop("INDEX_DIR", None)
    sys.exit(main())
