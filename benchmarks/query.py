"""Latency of searches in process, ours by stage and beside peers: `python benchmarks/query.py`.

Generated corpora (see `synthetic`) of `--chunks` chunks are built by `foundry build`, or taken from
`--folder` if `scale.py` has built them there, and the server rendered for them is asked in a
process of its own. Then each peer that can be imported gets the texts and vectors of that index and
the same queries, in a process of its own too; those that cannot are named, and so are those that
would take too long at a size. Numeric libraries may use one thread, unless `--library-threads` says
otherwise. Times are wall times; `CPU` is what a query takes of all cores, its median and p99, which
other work on the machine disturbs less.
"""

import argparse
import importlib
import importlib.metadata
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from common import machine, render_server, row
from indexed import IndexedCorpus
from latency import ask_all
from peers import PEERS, UNOBTAINABLE
from processes import ProcessFailedError, run_script
from searching import LASTING_QUERIES, LIBRARY_THREADS, MODES, measure_searches
from size import index_parts
from synthetic import built_project, queries_of

WALL = ("p50", "p95", "p99")
FIGURES = (*WALL, "cpu", "cpu p99")
SIZES = (10_000, 100_000)


def measure_peer(name: str, project: Path, folder: Path) -> dict[str, Any]:
    """One peer: what building and searching takes."""
    corpus = IndexedCorpus(project / ".foundry" / "index")
    queries = queries_of(project)
    vectors = {query: corpus.encode(query) for query in queries}
    begun = time.perf_counter()
    ask = PEERS[name].open(corpus, folder)
    built = time.perf_counter() - begun
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    found = ask_all(lambda query: ask(query, vectors[query]), queries)
    return {**found, "built": built, "bytes": size}


def report(chunks: int, folder: Path, peers: list[str], threads: int) -> None:
    """Measure one corpus, and print its tables."""
    project = built_project(folder, chunks)
    rendered = render_server(project, "benchmark_query")
    index = project / ".foundry" / "index"
    ours = measure_searches(rendered, index, project / "queries.json", threads)
    size = sum(index_parts(index).values())
    print(
        f"\n{chunks:,} chunks; the index opens in {ours['open']:.1f} ms"
        f" ({ours['open cpu']:.1f} ms of CPU), for the first time in {ours['first open']:.1f} ms;"
        f" {ours['candidates']:,} candidates, recall@20 {ours['recall']}\n"
    )
    row("ours", "p50 ms", "p95", "p99", "CPU", "CPU p99", "answers/s")
    row(*["---"] * 7)
    for name, found in ours["stages"].items():
        row(name, *(f"{found[key]:.2f}" for key in WALL), "", "", "")
    for mode in MODES:
        figures = (f"{ours[mode][key]:.2f}" for key in FIGURES)
        row(f"**{mode}**", *figures, f"{ours[mode]['rate']:.0f}")
    found = ours["two threads"]
    figures = (f"{found[key]:.2f}" for key in (*WALL, "cpu"))
    row("hybrid, two threads", *figures, "", f"{found['rate']:.0f}")
    print()
    row("longest queries", "p50 ms", "p95", "p99", "CPU", "CPU p99", "CPU to ordinary")
    row(*["---"] * 7)
    for kind, found in ours["long"].items():
        figures = (f"{found[key]:.2f}" for key in FIGURES)
        row(kind, *figures, f"{found['cpu'] / ours['hybrid']['cpu']:.2f}")
    print(f"\n{LASTING_QUERIES:,} queries, no two alike, leave {ours['growth']:.1f} MB taken\n")
    columns = ("p50 ms", "p95", "p99", "CPU", "CPU p99", "p50 to ours", "CPU to ours")
    row("peer", "lanes", *columns, "built", "index MB", "index to ours")
    row(*["---"] * 12)
    for mode in MODES:
        figures = (f"{ours[mode][key]:.2f}" for key in FIGURES)
        row("**ours**", mode, *figures, "1.00", "1.00", "", f"{size / 1e6:.0f}", "1.00")
    for name in peers:
        cells = peer_cells(name, project, chunks, threads, ours, size)
        row(name, *cells, *[""] * (11 - len(cells)))


def peer_cells(
    name: str, project: Path, chunks: int, threads: int, ours: dict[str, Any], size: int
) -> list[str]:
    """The cells of a peer's row, or why there are none."""
    peer = PEERS[name]
    if chunks > peer.most_chunks:
        return [peer.lanes, f"not run: {peer.limit}"]
    try:
        importlib.import_module(peer.module)
    except ImportError as error:
        return [peer.lanes, f"left out: {error}"]
    limits = dict.fromkeys(LIBRARY_THREADS, str(threads)) | {"TOKENIZERS_PARALLELISM": "false"}
    with tempfile.TemporaryDirectory(dir=project.parent) as place:
        arguments = ("--peer", name, "--project", str(project), "--place", place)
        try:
            found = run_script(Path(__file__), *arguments, variables=limits).said
        except ProcessFailedError as error:
            return [peer.lanes, f"failed: {error}"]
    return [
        peer.lanes,
        *(f"{found[key]:.2f}" for key in FIGURES),
        f"{found['p50'] / ours[peer.lanes]['p50']:.2f}",
        f"{found['cpu'] / ours[peer.lanes]['cpu']:.2f}",
        f"{found['built']:.0f} s",
        f"{found['bytes'] / 1e6:.0f}" if found["bytes"] else "in memory",
        f"{found['bytes'] / size:.2f}" if found["bytes"] else "",
    ]


def versions(peers: list[str]) -> str:
    """The versions of the peers that are installed."""
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
    parser.add_argument("--chunks", type=int, nargs="+", default=[*SIZES])
    parser.add_argument("--folder", type=Path, help="keep the corpora here, and use them again")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=[*PEERS])
    parser.add_argument("--library-threads", type=int, default=1)
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)
    parser.add_argument("--project", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--place", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.peer:
        print(json.dumps(measure_peer(chosen.peer, chosen.project, chosen.place)))
        return 0
    print(machine(), versions(chosen.peers), sep="\n\n")
    with tempfile.TemporaryDirectory() as work:
        for chunks in chosen.chunks:
            report(chunks, chosen.folder or Path(work), chosen.peers, chosen.library_threads)
    print()
    for name, reason in UNOBTAINABLE.items():
        print(f"{name}: left out: {reason}")
    return 0


if __name__ == "__main__":
    os.environ.pop("INDEX_DIR", None)
    sys.exit(main())
