"""Compares records in a server with records in its engine: `python benchmarks/records.py`.

Each FOLDER of documents, or a generated corpus of `--chunks`, is built and published into a
PostgreSQL that is started here. Queries are headings of a folder's chunks, or the generated
corpus's own (see `synthetic`). Each server is a separate process with the part of the index that
its export has. It returns ten hits for each query, and reaches the engine through a relay that
counts bytes.

Figures are megabytes of the index on disk, and of memory after all searches (all pages read, and
those that belong to no file). For a search, they are milliseconds of processor time, exchanges with
the engine, and kilobytes from it.
"""

import argparse
import importlib
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from common import build, machine, make_project, render_server, row
from engines import NAME, Relay, choose_store, process_of_postgres, processor_of, running_postgres
from processes import memory_of, run_script
from synthetic import generated_project, queries_of

from foundry.progress import Reporter
from foundry.runtime.index.layout import resolve_version
from foundry.runtime.store.settings import StoreSettings
from foundry.runtime.store.store import HELD_FILES, RECORD_FILES
from foundry.stores.content import Content
from foundry.stores.options import PublishOptions
from foundry.stores.pgvector.publishing import publish

QUERIES, WARM, SEED = 600, 100, 5
COLUMNS = "records|MB of index|MB held|private|ms of server|ms of PostgreSQL|exchanges|KB received"


def publish_counted(content: Content, *, exact: bool) -> str:
    """Publish with records; returns the cost, and the size of the table of records."""
    import psycopg

    begun = time.perf_counter()
    settings = StoreSettings(NAME, exact=exact, timeout=60.0)
    publish(content, settings, Reporter(quiet=True), PublishOptions(grace=0, records=True))
    seconds = time.perf_counter() - begun
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        ((size,),) = connection.execute(
            "SELECT pg_total_relation_size(%s::regclass)", [f"{NAME}.records"]
        ).fetchall()
    return f"published with records in {seconds:.0f} s; their table has {size / 1e6:.0f} MB"


def serve(folder: Path, package: str, index: Path) -> None:
    """Search one server in this process, and print the cost."""
    sys.path.insert(0, str(folder))
    server = importlib.import_module(package)
    server.load(index, verify=False)
    queries = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    for query in queries[:WARM]:
        server.search_hybrid(query)
    engine, asked = server.load.__self__.current().dense_lane.store.engine, 0
    use = engine.use

    def count(call: Callable[[Any], Any]) -> Any:
        nonlocal asked
        asked += 1
        return use(call)

    engine.use = count
    used = time.process_time()
    for query in queries[WARM:]:
        server.search_hybrid(query)
    used = time.process_time() - used
    memory, number = memory_of(os.getpid()), len(queries) - WARM
    engine.close()
    said = {"ms": used * 1000 / number, "exchanges": asked / number}
    print(json.dumps({**said, "held": memory.held, "private": memory.private}))


def headings_of(content: Content) -> list[str]:
    """Return the last headings of randomly drawn chunks."""
    chooser = random.Random(SEED)
    numbers = [chooser.randrange(len(content.scales)) for _ in range(QUERIES)]
    chunks = content.index.chunks(numbers)
    return [" ".join(chunk.headings()[-2:]) or chunk.title for chunk in chunks]


def report(project: Path, queries: list[str] | None, *, exact: bool) -> None:
    """Publish a project, and print a row for each kind of server."""
    options: dict[str, object] = {"engine": "pgvector", "name": NAME, "exact": exact}
    choose_store(project, **options)
    build(project)
    index = resolve_version(project / ".foundry" / "index")
    content = Content.open(index)
    queries = (queries or headings_of(content))[:QUERIES]
    with (
        tempfile.TemporaryDirectory(prefix="bench-pg-", dir="/tmp") as place,
        running_postgres(Path(place)) as address,
    ):
        os.environ["DATABASE_URL"] = address
        said = publish_counted(content, exact=exact)
        print(f"\n{len(content.scales):,} chunks, {content.files.manifest.documents:,} documents;")
        print(f"{said}\n")
        del content  # Otherwise pages that the server maps too would count only half for it.
        postgres = process_of_postgres(Path(place))
        relay = Relay(f"{parse_qs(urlsplit(address).query)['host'][0]}/.s.PGSQL.5432")
        os.environ["DATABASE_URL"] = f"postgresql://postgres@127.0.0.1:{relay.port}/postgres"
        row(*COLUMNS.split("|"))
        row(*["---"] * len(COLUMNS.split("|")))
        for kind in ("server", "engine"):
            package = f"records_{kind}"
            choose_store(project, **options, timeout_ms=60_000, records=kind)
            folder = render_server(project, package)
            (folder / "queries.json").write_text(json.dumps(queries), encoding="utf-8")
            left_out = HELD_FILES | (RECORD_FILES if kind == "engine" else frozenset())
            own = Path(place) / kind
            shutil.copytree(index, own, ignore=shutil.ignore_patterns(*left_out))
            disk = sum(path.stat().st_size for path in own.rglob("*") if path.is_file()) / 1e6
            received, used = relay.received, processor_of(postgres)
            said_by = run_script(Path(__file__), "--serve", str(folder), package, str(own)).said
            received, used = relay.received - received, processor_of(postgres) - used
            row(
                kind,
                f"{disk:.1f}",
                f"{said_by['held']:.0f}",
                f"{said_by['private']:.0f}",
                f"{said_by['ms']:.2f}",
                f"{used * 1000 / len(queries):.2f}",
                f"{said_by['exchanges']:.2f}",
                f"{received / 1000 / len(queries):.1f}",
            )


def main() -> int:
    """Print a table for each corpus."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("documents", type=Path, nargs="*")
    parser.add_argument("--chunks", type=int, nargs="*", default=[])
    parser.add_argument("--graph", action="store_true", help="by the graph, not by all vectors")
    parser.add_argument("--serve", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        folder, package, index = chosen.serve
        serve(Path(folder), package, Path(index))
        return 0
    print(machine())
    with tempfile.TemporaryDirectory() as work:
        for number, documents in enumerate(chosen.documents):
            source = f'type = "folder"\npath = {json.dumps(str(documents.resolve()))}'
            project = make_project(Path(work) / f"folder-{number}", source)
            report(project, None, exact=not chosen.graph)
        for chunks in chosen.chunks:
            project = generated_project(Path(work), chunks)
            report(project, queries_of(project), exact=not chosen.graph)
    return 0


if __name__ == "__main__":
    os.environ.pop("INDEX_DIR", None)
    sys.exit(main())
