"""Latency of searches in process, ours by stage and beside peers: `python benchmarks/query.py`.

Generated corpora (see `synthetic`) of `--chunks` chunks are written with the index writer, and the
server rendered for them is asked in a process of its own. Then each peer that can be imported gets
the same texts, vectors and queries, in a process of its own too; those that cannot are named.
Numeric libraries may use one thread, unless `--library-threads` says otherwise. Times are wall
times; `CPU` is what a query takes of all cores, its median and p99, which other work on the
machine disturbs less.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import load_server, machine, make_project
from numpy.typing import NDArray
from peers import PEERS
from synthetic import Corpus

QUERIES = 300
WARM = 20
SECONDS = 20.0
"""A slow peer is asked fewer queries."""

FIGURES = ("p50", "p95", "p99", "cpu", "cpu p99")
LIBRARY_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "LANCE_CPU_THREADS",
)
UNOBTAINABLE = {"docs-mcp-server": "an npm package, not asked in process"}


def ask_all(ask: Callable[[str], object], queries: list[str]) -> dict[str, float]:
    """Milliseconds of wall (median, p95, p99) and of CPU (median, p99) that a query takes."""
    for query in queries[:WARM]:
        ask(query)
        if time.process_time() > 10 * SECONDS:
            break
    times: list[float] = []
    used: list[float] = []
    begun = time.perf_counter()
    for query in queries:
        started, before = time.perf_counter(), time.process_time()
        ask(query)
        used.append((time.process_time() - before) * 1000)
        times.append((time.perf_counter() - started) * 1000)
        if time.perf_counter() - begun > SECONDS:
            break
    cpu, cpu_p99 = np.percentile(used, [50, 99]).tolist()
    return {**percentiles(times), "cpu": cpu, "cpu p99": cpu_p99}


def percentiles(times: list[float]) -> dict[str, float]:
    """The median, p95 and p99."""
    cuts = np.percentile(times, [50, 95, 99]).tolist()
    return dict(zip(("p50", "p95", "p99"), cuts, strict=True))


def ask_in_threads(ask: Callable[[str], object], queries: list[str], count: int) -> dict[str, Any]:
    """The latency when `count` threads ask at once, each all queries; answers a second."""
    times: list[float] = []

    def work() -> None:
        for query in queries:
            started = time.perf_counter()
            ask(query)
            times.append((time.perf_counter() - started) * 1000)

    threads = [threading.Thread(target=work) for _ in range(count)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {**percentiles(times), "rate": len(times) / (time.perf_counter() - begun)}


def measure_ours(project: Path, queries: list[str]) -> dict[str, Any]:
    """All modes, threads and stages of the server rendered for a project."""
    server = load_server(project, "benchmark_query")
    index = project / ".foundry" / "index"
    opened = []
    for _ in range(5):
        begun = time.process_time()
        type(server.load(index)).open(index)
        opened.append((time.process_time() - begun) * 1000)
    found: dict[str, Any] = {"open": float(np.median(opened))}
    for mode in ("hybrid", "keyword", "semantic"):
        found[mode] = ask_all(
            lambda query, mode=mode: server.search_hybrid(query, mode=mode), queries
        )
    found["two threads"] = ask_in_threads(server.search_hybrid, queries, 2)
    found["stages"] = observe(server, queries)
    manifest = server.load(index).manifest
    found["candidates"] = manifest.dense.candidates
    found["recall"] = manifest.dense.recall_at_20
    return found


def observe(server: Any, queries: list[str]) -> dict[str, dict[str, float]]:
    """How long each stage of `search_hybrid` takes."""
    search = importlib.import_module(f"{server.__name__}.search")
    stages = importlib.import_module(f"{server.__name__}.stages")
    for name, function in (
        ("completion", "complete_lanes"),
        ("fusion", "fuse_linear"),
        ("records", "respond"),
    ):
        setattr(search, function, stages.stage(name)(getattr(search, function)))
    times: dict[str, list[float]] = {}
    stages.observe_stages(
        lambda name, begun, ended: times.setdefault(name, []).append((ended - begun) / 1e6)
    )
    for query in queries:
        server.search_hybrid(query)
    return {name: percentiles(values) for name, values in times.items()}


def measure_peer(name: str, corpus: Corpus, queries: list[str], folder: Path) -> dict[str, Any]:
    """One peer: what building and searching takes."""
    encode = corpus.encode
    vectors: dict[str, NDArray[np.float32]] = {query: encode(query) for query in queries}
    begun = time.perf_counter()
    ask = PEERS[name][2](corpus, folder)
    built = time.perf_counter() - begun
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    found = ask_all(lambda query: ask(query, vectors[query]), queries)
    return {**found, "built": built, "bytes": size}


def in_process(threads: int, *arguments: str) -> dict[str, Any]:
    """Run this script for one measurement."""
    limits = dict.fromkeys(LIBRARY_THREADS, str(threads))
    done = subprocess.run(
        [sys.executable, __file__, *arguments],
        env={**os.environ, **limits, "TOKENIZERS_PARALLELISM": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return {"problem": (done.stderr.strip() or "no reason given").splitlines()[-1]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def write_project(folder: Path, chunks: int) -> Path:
    """A project whose index is the generated corpus; one that is there is used again."""
    project = folder / f"project-{chunks}"
    if not (project / "foundry.toml").exists():
        index = project / ".foundry" / "index"
        Corpus(chunks).write_index(index / "v1")
        (index / "CURRENT").write_text("v1\n", encoding="ascii")
        (project / "sources").mkdir()
        make_project(project, 'type = "folder"\npath = "sources"')
    return project


def row(*cells: object) -> None:
    """Print a line of a table."""
    print("|", " | ".join(str(cell) for cell in cells), "|", flush=True)


def report(chunks: int, folder: Path, peers: list[str], threads: int) -> None:
    """Measure one corpus, and print its tables."""
    project = write_project(folder, chunks)
    ours = in_process(threads, "--one", "ours", "--folder", str(project), "--chunks", str(chunks))
    if "problem" in ours:
        print(ours["problem"])
        return
    print(
        f"\n{chunks:,} chunks; opened in {ours['open']:.1f} ms of CPU;"
        f" {ours['candidates']} candidates,"
        f" recall@20 {ours['recall']}\n"
    )
    row("stage", "p50 ms", "p95", "p99", "CPU", "CPU p99")
    row(*["---"] * 6)
    for name, found in ours["stages"].items():
        row(name, *(f"{found[key]:.2f}" for key in ("p50", "p95", "p99")), "", "")
    for mode in ("keyword", "semantic", "hybrid"):
        row(f"**{mode}**", *(f"{ours[mode][key]:.2f}" for key in FIGURES))
    found = ours["two threads"]
    rate = f"{found['rate']:.0f} answers/s"
    row("hybrid, two threads", *(f"{found[key]:.2f}" for key in ("p50", "p95", "p99")), rate, "")
    print()
    columns = ("p50 ms", "p95", "p99", "CPU", "CPU p99", "p50 to ours", "CPU to ours")
    row("peer", "lanes", *columns, "built", "index")
    row(*["---"] * 11)
    for name in peers:
        module, lanes, _ = PEERS[name]
        try:
            importlib.import_module(module)
        except ImportError as error:
            row(name, f"left out: {error}")
            continue
        with tempfile.TemporaryDirectory(dir=folder) as place:
            arguments = ("--one", name, "--folder", place, "--chunks", str(chunks))
            found = in_process(threads, *arguments)
        if "problem" in found:
            row(name, f"failed: {found['problem']}")
            continue
        row(
            name,
            lanes,
            *(f"{found[key]:.2f}" for key in FIGURES),
            f"{found['p50'] / ours[lanes]['p50']:.2f}",
            f"{found['cpu'] / ours[lanes]['cpu']:.2f}",
            f"{found['built']:.0f} s",
            f"{found['bytes'] / 1e6:.0f} MB",
        )


def main() -> int:
    """Print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--folder", type=Path, help="keep the corpora here, and use them again")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--library-threads", type=int, default=1)
    parser.add_argument("--one", choices=("ours", *PEERS), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        corpus = Corpus(chosen.chunks[0])
        queries = corpus.queries(QUERIES)
        if chosen.one == "ours":
            found = measure_ours(chosen.folder, queries)
        else:
            found = measure_peer(chosen.one, corpus, queries, chosen.folder)
        print(json.dumps(found))
        return 0
    print(machine())
    with tempfile.TemporaryDirectory() as work:
        for chunks in chosen.chunks:
            report(chunks, chosen.folder or Path(work), chosen.peers, chosen.library_threads)
    for name, reason in UNOBTAINABLE.items():
        print(f"\n{name}: left out: {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
