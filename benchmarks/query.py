"""Compares searches of all systems in one run: `python benchmarks/query.py CORPUS ...`.

A CORPUS is `shipped` (the docstrings of Python and NumPy, see `shipped.py`), a folder of documents,
a built project, or a number of chunks to generate. The queries of a log (`query_log.py`) are sent
six times, all once before any is repeated: in our three modes, to each installed peer, and over
HTTP, with default options, to an export and to a server with tantivy (`peer_server.py`). Each
system is a separate process, and searches use one thread.

Times are milliseconds of processor time, on which other work has less effect, and in brackets wall
time; for repeated queries, the smallest of five. `cold` is the first search of a process if no file
of the index is in the page cache: opening, searching, and the data read from disk. `to ours` is the
median of a repeated query divided by ours with the same lanes in the same run; below 1, the peer is
faster. Approximate vector indexes are searched as deep as 99 % recall requires.
"""

import argparse
import http.client
import importlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from asking import OURS
from common import build, machine, make_project, render_server, row
from indexed import IndexedCorpus
from latency import percentiles
from numpy.typing import NDArray
from peers import PEERS
from processes import ProcessFailedError, memory_of, run_script, scheduled_seconds
from query_log import EACH, SEED, kinds, make_log
from searching import LIBRARY_THREADS
from serve import running
from shipped import write_shipped
from size import index_parts
from synthetic import built_project

from foundry import pipeline

WARM = 20
TUNED = 100
"""Number of queries, from another log, for tuning peers."""

ATTEMPTS = 600
"""Attempts to connect to a server that has just been started, ten per second."""

PASSES = 5
"""Passes over the log after the first one; for each query, the smallest time counts."""

BOUND = dict.fromkeys(LIBRARY_THREADS, "1") | {"TOKENIZERS_PARALLELISM": "false"}
COLUMNS = (
    *("system", "lanes", "first asked", "p95", "repeated", "p95", "to ours"),
    *("cold: open", "search", "MB read", "MB held", "private", "built, s", "index MB", "recall@20"),
)

Figures = dict[str, Any]


def project_of(corpus: str, work: Path) -> Path:
    """Return the built project of a corpus."""
    if corpus.isdecimal():
        return built_project(work, int(corpus))
    if (Path(corpus) / "foundry.toml").exists():
        return Path(corpus)
    folder = write_shipped(work / "shipped") if corpus == "shipped" else Path(corpus)
    project = work / f"project-{folder.name}"
    if not (project / "foundry.toml").exists():
        source = f'type = "folder"\npath = {json.dumps(str(folder.resolve()))}'
        build(make_project(project, source))
    return project


def prepare(project: Path, work: Path, each: int) -> tuple[IndexedCorpus, list[str]]:
    """Write the files for `asking.py`, and render the server; returns corpus and queries."""
    index = project / ".foundry" / "index"
    corpus = IndexedCorpus(index)
    draws = kinds([*corpus.texts()])
    warm = make_log(draws, 1, SEED + 1)
    queries = [*dict.fromkeys([*warm[:WARM], *make_log(draws, each)])]
    np.save(work / "vectors.npy", np.stack([*map(corpus.encode, queries)]))
    tuned = [*map(corpus.encode, warm + make_log(draws, 1, SEED + 2))]
    np.save(work / "tuned.npy", np.stack([vector for vector in tuned if vector.any()][:TUNED]))
    (work / "asked.json").write_text(json.dumps(queries), encoding="utf-8")
    rendered = render_server(project, "benchmark_query")
    said = {"rendered": str(rendered), "index": str(index)}
    (work / "ours.json").write_text(json.dumps(said), encoding="utf-8")
    return corpus, queries


def build_peer(name: str, project: Path, work: Path) -> Figures:
    """Build a peer in this process, unless it exists; returns the duration and its results."""
    folder = work / "built" / name
    told = folder.with_suffix(".json")
    if told.exists():
        return dict(json.loads(told.read_bytes()))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    corpus = IndexedCorpus(project / ".foundry" / "index")
    begun = time.perf_counter()
    said = PEERS[name].build(corpus, folder, np.load(work / "tuned.npy"))
    built = time.perf_counter() - begun
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    found = {**said, "built": built, "bytes": size}
    told.write_text(json.dumps(found), encoding="utf-8")
    return found


def ask(work: Path, name: str) -> Figures:
    """Measure a system that has been built."""
    script = Path(__file__).with_name("asking.py")
    return run_script(script, str(work), name, str(WARM), str(PASSES), variables=BOUND).said


def cells(found: Figures, ours: float | None) -> list[str]:
    """Return the cells of a system's figures; `ours` is our median."""
    first, again, cold, memory = (found[name] for name in ("first", "again", "cold", "memory"))
    return [
        *(f"{first[name]:.2f} ({first[wall]:.2f})" for name, wall in _MIDDLE_AND_LATE),
        *(f"{again[name]:.2f} ({again[wall]:.2f})" for name, wall in _MIDDLE_AND_LATE),
        f"{again['cpu'] / (ours or again['cpu']):.2f}",
        *((f"{cold[name]:.0f}" for name in ("open", "first", "MB")) if cold else ("", "", "")),
        *(f"{memory[name]:.0f}" for name in ("held", "private")),
        f"{found['built']:.0f}" if "built" in found else "",
        f"{found['bytes'] / 1e6:.0f}" if "bytes" in found else "",
        f"{found['recall']:.3f} ({found['depth']})" if "recall" in found else "",
    ]


_MIDDLE_AND_LATE = (("cpu", "p50"), ("cpu p95", "p95"))


def report_peer(name: str, project: Path, work: Path, chunks: int, ours: dict[str, float]) -> None:
    """Print a peer's row, or why there is none."""
    peer = PEERS[name]
    try:
        importlib.import_module(peer.module)
        if chunks > peer.most_chunks:
            raise ImportError(peer.limit)
        arguments = ("--peer", name, "--project", str(project), "--work", str(work))
        built = run_script(Path(__file__), *arguments).said
        found = {**built, **ask(work, name)}
    except (ImportError, ProcessFailedError) as error:
        row(name, peer.lanes, f"left out: {error}", *[""] * (len(COLUMNS) - 3))
        return
    row(name, peer.lanes, *cells(found, ours[peer.lanes]))


@contextmanager
def peer_running(folder: Path) -> Iterator[tuple[str, int]]:
    """Run the server with tantivy; yields its address and process id."""
    command = [sys.executable, str(Path(__file__).with_name("peer_server.py")), str(folder)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        yield process.stderr.readline().strip(), process.pid
    finally:
        process.terminate()
        process.wait(timeout=60)
        process.stderr.close()


def connect(address: str) -> http.client.HTTPConnection:
    """Return a connection to a server."""
    where = urlsplit(address)
    return http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)


def post_query(connection: http.client.HTTPConnection, query: str) -> bytes:
    """Return the body of the answer to a query, with the default options."""
    fields = {"Content-Type": "application/json"}
    connection.request("POST", "/search", json.dumps({"query": query}), fields)
    with connection.getresponse() as reply:
        body = reply.read()
    assert reply.status == 200, body
    return body


def ask_server(address: str, pid: int, queries: list[str]) -> Figures:
    """Send all queries twice over one connection, one after the other."""
    connection = connect(address)

    def search(query: str) -> None:
        post_query(connection, query)

    for _ in range(ATTEMPTS):
        try:
            search(queries[0])
            break
        except ConnectionError:
            connection.close()
            time.sleep(0.1)
    for query in queries[:WARM]:
        search(query)
    log = queries[WARM:]
    first = _timed(search, pid, log)
    again = [_timed(search, pid, log) for _ in range(PASSES)]
    memory = memory_of(pid)
    connection.close()
    held = {"held": memory.held, "private": memory.private}
    least = np.min(again, axis=0)
    return {"first": _told(first), "again": _told(least), "cold": None, "memory": held}


def _timed(search: Callable[[str], None], pid: int, queries: list[str]) -> NDArray[np.float64]:
    """Return milliseconds of wall and of processor time for each query (2, q)."""
    wall, used = [], []
    before = scheduled_seconds(pid)
    for query in queries:
        begun = time.perf_counter()
        search(query)
        wall.append((time.perf_counter() - begun) * 1000)
        now = scheduled_seconds(pid)
        used.append((now - before) * 1000)
        before = now
    return np.array([wall, used])


def _told(times: NDArray[np.float64]) -> dict[str, float]:
    cpu = percentiles(times[1].tolist())
    each = float(times[1].mean())
    wall = percentiles(times[0].tolist())
    return {**wall, "cpu": cpu["p50"], "cpu p95": cpu["p95"], "each": each}


def report_servers(project: Path, work: Path, queries: list[str]) -> None:
    """Print rows of both servers, and their answers per second of processor time."""
    shutil.rmtree(work / "export", ignore_errors=True)
    export = pipeline.export(project, work / "export", say_nothing, force=False, trust=False)
    with running(export, LOG_LEVEL="warning") as (address, pid):
        ours = ask_server(address, pid, queries)
    row("ours over HTTP", "hybrid, snippets", *cells(ours, None))
    rates = {"ours": ours}
    folder = work / "built" / "tantivy"
    if folder.exists():
        with peer_running(folder) as (address, pid):
            peer = rates["FastAPI with tantivy"] = ask_server(address, pid, queries)
        name = "FastAPI with tantivy"
        row(name, "keyword, snippets", *cells(peer, ours["again"]["cpu"]))
    print()
    for name, found in rates.items():
        first, again = (1000 / found[which]["each"] for which in ("first", "again"))
        print(f"{name} over HTTP: {first:.0f} answers for a second of a core, {again:.0f} repeated")


def say_nothing(_label: str, _text: str) -> None:
    """Suppress an export's messages."""


def report(name: str, project: Path, place: Path, peers: list[str], each: int) -> None:
    """Measure a corpus, and print its table."""
    work = place / f"peers-{name}"
    work.mkdir(parents=True, exist_ok=True)
    corpus, queries = prepare(project, work, each)
    told = corpus.manifest.dense or {}
    size = sum(index_parts(project / ".foundry" / "index").values())
    print(
        f"\n{name}: {corpus.manifest.chunks:,} chunks, {len(queries) - WARM} queries;"
        f" {told['candidates']:,} candidates, recall@20 {told['recall_at_20']}\n"
    )
    row(*COLUMNS)
    row(*["---"] * len(COLUMNS))
    ours: dict[str, float] = {}
    for system, mode in OURS.items():
        found = {**ask(work, system), "bytes": size}
        ours[mode] = found["again"]["cpu"]
        row(f"**{system}**", mode, *cells(found, None))
    for peer in peers:
        report_peer(peer, project, work, corpus.manifest.chunks, ours)
    report_servers(project, work, queries)


def versions(peers: list[str]) -> str:
    """Return the versions of the installed peers."""
    found = []
    for package in dict.fromkeys(package for name in peers for package in PEERS[name].packages):
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(found)


def main() -> int:
    """Print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", default=["shipped"])
    parser.add_argument("--folder", type=Path, help="keep what is built here, and use it again")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=[*PEERS])
    parser.add_argument("--each", type=int, default=EACH, help="queries of each kind and length")
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)
    parser.add_argument("--project", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.peer:
        print(json.dumps(build_peer(chosen.peer, chosen.project, chosen.work)))
        return 0
    print(machine(), versions(chosen.peers), sep="\n\n")
    with tempfile.TemporaryDirectory() as work:
        place = chosen.folder or Path(work)
        for corpus in chosen.corpora:
            project = project_of(corpus, place)
            report(Path(corpus).name, project, place, chosen.peers, chosen.each)
    return 0


if __name__ == "__main__":
    os.environ.pop("INDEX_DIR", None)
    sys.exit(main())
