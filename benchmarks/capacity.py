"""Computes capacities: `python benchmarks/capacity.py`.

The needs of 10 million, 100 million and a billion chunks are computed, not measured, from the
constants that are printed first. Sizes, and the times of builds, are those of the largest corpus in
`--results`, which `scale.py` has measured.
"""

import argparse
import math
import sys
from pathlib import Path

from common import row
from scale import RESULTS, Found, read_results

SIZES = (10_000_000, 100_000_000, 1_000_000_000)
MACHINES = (16, 64, 256)
"""Gigabytes of memory of one machine with an embedded index."""

SEARCH = 10.25
"""Milliseconds of a core for a repeated hybrid search in a million generated chunks (`query.py
1000000`).
"""

DIMENSIONS = 256
LATENCY_LIMIT = 25.0
"""Median milliseconds above which an engine should replace the embedded index."""

NODE_GIGABYTES = 64
USABLE = 0.8
REPLICAS = 2
HEADROOM = 1.5
"""Qdrant's own rule: half of the vectors' memory more, for versions of points and optimising."""

LINKS = 2 * 32 * 4
"""Bytes of a point's links in the lowest layer of a graph with m = 32, which Foundry configures."""

POSTING_DISK, POSTING_MEMORY = 8, 12
"""Bytes of a term of a sparse vector in Qdrant: number and weight; in memory also the next maximum.
"""

PAYLOAD, PAYLOAD_INDEXES = 430, 270
"""Bytes of a point's filter values and id, and of their indexes, which are in memory too
(`payload.py`).
"""

VECTORS = {"float32": 4.0, "int8 in memory": 1.0, "one bit in memory": 0.125}
"""Bytes in memory for each dimension; the original vectors are on disk."""

POSTGRES_BYTES = {
    "postings, with their indexes": 4_517,
    "vectors": 612,
    "chunks, with what filters ask for": 225,
    "graph of vectors": 832,
}
"""Bytes of a chunk in PostgreSQL. The first three are for 100,000 generated chunks after `foundry
publish` (`pg_relation_size`), the graph is for a million (`graphs.py`).
"""

GRAPH_SEARCH, EXACT_SEARCH = 3.0, 1_388.0
"""Milliseconds of a core for a vector search in PostgreSQL among a million generated chunks: by the
graph (200 deep), and by comparing all vectors (`graphs.py`).
"""

KEYWORD_SEARCH = 63.0
"""Milliseconds of a core for a keyword search among a million chunks: ten times that for 100,000
(`engines.py`), because postings grow with the corpus.
"""

GRAPH_RECALL, REAL_GRAPH_RECALL = 0.862, 0.956
"""Recall of the nearest ten of a million generated chunks, and of 62,557 chunks of real text
(`graphs.py`).
"""

GRAPH_BUILD = 302.0
"""Seconds of a core for the graph of a million chunks in PostgreSQL (`graphs.py`)."""

REAL_SEARCH = ((1e6, 12.93), (2e6, 22.94))
"""Numbers of vectors of real text, with the milliseconds of a core for the dense lane (`depth.py`).
"""

LARGE = 10_000_000
"""The number of chunks for which one large machine is compared."""

NODES = (1, 4, 16)
PARENT = 155e-6
"""Seconds of a core per chunk in the main process of a build, independent of its workers: those of
a million chunks built by two workers on an Intel Xeon at 2.80 GHz (`scale.py`).
"""

MODEL_SECONDS = 0.030
"""Seconds of one core for 128 tokens in a network of MiniLM-L6's shape (results/stages.md)."""

CORES = 2
TOKENS = 128
TOKENS_A_MINUTE = 1_000_000
"""An example of a service's rate limit."""


def print_constants(found: Found, size: int) -> None:
    """Print the figures from which everything else is computed."""
    row("constant", "value", "from")
    row("---", "---", "---")
    parts, each = found["build"]["bytes"], _bytes_of(found)
    here = f"`scale.py`, {size:,} chunks"
    for name, value in each.items():
        row(f"{name}, bytes a chunk", f"{value:,.0f}", here)
    row("query encoder, MB", f"{parts['encoder'] / 1e6:.1f}", f"{here}; does not grow")
    row("postings a chunk", f"{_postings(found):.0f}", f"{here}: bytes of postings / 8")
    row("search, ms of a core for a million chunks", SEARCH, "`query.py 1000000`, hybrid, repeated")
    reading, rest = _seconds(found, size)
    row(f"reading, ms a chunk, {CORES} cores", f"{reading * 1000:.3f}", f"{here}, embedding too")
    row("assembling and indexing, ms a chunk", f"{rest * 1000:.3f}", here)
    model = f"{MODEL_SECONDS * 1000:.0f} ms of a core, {TOKENS} tokens"
    row("a chunk through MiniLM-L6", model, "`stages.md`, reranking")
    row("a service", f"{TOKENS_A_MINUTE:,} tokens a minute", "an example of a limit")
    filters = f"{PAYLOAD} and {PAYLOAD_INDEXES}"
    row("what filters ask for in Qdrant, and its indexes, bytes", filters, "`payload.py`")
    row("a node of Qdrant", f"{NODE_GIGABYTES} GB, {USABLE:.0%} of it usable", "assumed")


def print_machines(found: Found) -> None:
    """Print how many chunks one machine holds, by memory and by time."""
    each = _bytes_of(found)
    lanes = each["vectors"] + each["postings"]
    row("memory", "chunks whose lanes stay in memory", "their index on disk", "median then")
    row(*["---"] * 4)
    for gigabytes in MACHINES:
        chunks = gigabytes * 1e9 * USABLE / lanes
        row(
            f"{gigabytes} GB",
            f"{chunks / 1e6:,.0f} M",
            f"{chunks * sum(each.values()) / 1e9:,.0f} GB",
            f"{SEARCH * chunks / 1e6:,.0f} ms",
        )
    most = LATENCY_LIMIT / SEARCH
    limit = f"{LATENCY_LIMIT:.0f} ms"
    print(f"\nA median of {limit} is reached at {most:.1f} million chunks of generated text.")


def print_comparison(found: Found) -> None:
    """Print the needs of `LARGE` chunks on one machine: in the embedded index and in PostgreSQL."""
    each = _bytes_of(found)
    lanes, index = each["vectors"] + each["postings"], sum(each.values())
    (few, fast), (many, slow) = REAL_SEARCH
    real = slow + (LARGE - many) * (slow - fast) / (many - few)
    generated = SEARCH * LARGE / 1e6
    rows = sum(POSTGRES_BYTES.values())
    graph = POSTGRES_BYTES["graph of vectors"] + POSTGRES_BYTES["vectors"]
    columns = "search|memory|disk|while all is replaced|ms of a core|a second and core|recall"
    row(*f"{columns}|what is measured".split("|"))
    row(*["---"] * 8)
    million = "a million chunks: all but disk while all is replaced"
    for name, memory, disk, milliseconds, recall, measured in (
        ("embedded, generated text, hybrid", lanes, index, generated, ".99", million),
        ("embedded, real text, dense lane", lanes, index, real, ".99", "two million vectors: ms"),
        (
            "PostgreSQL by its graph, vectors alone",
            *(graph, rows, GRAPH_SEARCH),
            f"{GRAPH_RECALL} at a million, {REAL_GRAPH_RECALL} of real text",
            "a million vectors: ms, taken to grow no more; 100,000 chunks: disk",
        ),
        (
            "PostgreSQL, all compared, vectors alone",
            *(POSTGRES_BYTES["vectors"], rows, EXACT_SEARCH * LARGE / 1e6, "1"),
            "a million vectors: ms; 100,000 chunks: disk",
        ),
        (
            "PostgreSQL, keywords alone",
            *(POSTGRES_BYTES["postings, with their indexes"], rows),
            *(KEYWORD_SEARCH * LARGE / 1e6, "1", "100,000 chunks: all"),
        ),
    ):
        row(
            *(name, _gigabytes(memory * LARGE), _gigabytes(disk * LARGE)),
            _gigabytes(2 * disk * LARGE),
            *(f"{milliseconds:,.0f}", f"{1000 / milliseconds:,.1f}", recall, measured),
        )
    hours = GRAPH_BUILD * LARGE / 1e6 / 3600
    print(f"\nThe graph of {LARGE:,} chunks takes {hours:.1f} h of a core to build.")


def print_engine(found: Found) -> None:
    """Print memory, disk, nodes and shards of Qdrant."""
    postings = _postings(found)
    each = _bytes_of(found)
    columns = "chunks|vectors|bytes a chunk in memory|memory, all replicas|disk, all replicas"
    columns += "|disk while all is replaced|nodes and shards|chunks a shard"
    row(*f"{columns}|records on each server".split("|"))
    row(*["---"] * 9)
    records = sum(value for name, value in each.items() if name not in ("vectors", "postings"))
    for size in SIZES:
        for name, width in VECTORS.items():
            held = HEADROOM * width * DIMENSIONS + LINKS + postings * POSTING_MEMORY
            held += PAYLOAD_INDEXES
            kept = DIMENSIONS * (4 + (width if width < 4 else 0)) + LINKS
            kept += postings * (POSTING_DISK + POSTING_MEMORY) + PAYLOAD + PAYLOAD_INDEXES
            memory = size * held * REPLICAS
            nodes = max(REPLICAS, math.ceil(memory / (NODE_GIGABYTES * 1e9 * USABLE)))
            row(
                *(f"{size / 1e6:,.0f} M", name, f"{held:,.0f}", _gigabytes(memory)),
                *(_gigabytes(times * size * kept * REPLICAS) for times in (1, 2)),
                *(nodes, f"{size / nodes / 1e6:.1f} M"),
                _gigabytes(size * records),
            )


def print_builds(found: Found, size: int) -> None:
    """Print the hours of a complete build, by embedder and number of machines."""
    reading, rest = _seconds(found, size)
    model = MODEL_SECONDS / CORES
    service = TOKENS / TOKENS_A_MINUTE * 60
    columns = [f"{nodes} machine{'s' if nodes > 1 else ''}" for nodes in NODES]
    row("chunks", "embedder", *columns, "tokens")
    row(*["---"] * (3 + len(NODES)))
    for chunks in SIZES:
        for name, spread, alone in (
            ("static", reading, rest),
            ("MiniLM-L6 on processors", reading + model, rest),
            ("a service", reading, rest + service),
        ):
            seconds = (max(spread / nodes + alone, PARENT) for nodes in NODES)
            hours = (chunks * each / 3600 for each in seconds)
            tokens = f"{chunks * TOKENS / 1e9:,.1f} billion" if name != "static" else ""
            row(f"{chunks / 1e6:,.0f} M", name, *(f"{value:,.1f} h" for value in hours), tokens)


def _bytes_of(found: Found) -> dict[str, float]:
    """Return the bytes per chunk of everything that grows with the corpus."""
    build = found["build"]
    return {
        name: size / build["chunks"] for name, size in build["bytes"].items() if name != "encoder"
    }


def _postings(found: Found) -> float:
    """Return the postings per chunk: each has a number and a weight of four bytes."""
    return _bytes_of(found)["postings"] / 8


def _seconds(found: Found, size: int) -> tuple[float, float]:
    """Return the seconds per chunk of reading, which machines share, and of work on one machine."""
    stages = found["build"]["stages"]
    return stages["Reading"] / size, (sum(stages.values()) - stages["Reading"]) / size


def _gigabytes(size: float) -> str:
    return f"{size / 1e12:,.1f} TB" if size >= 1e12 else f"{size / 1e9:,.0f} GB"


def main() -> int:
    """Print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--results", type=Path, default=RESULTS, help="default: %(default)s")
    results = read_results(parser.parse_args().results)
    complete = [size for size, parts in results.items() if {"build", "search"} <= parts.keys()]
    if not complete:
        parser.error("no size has been built and searched; run scale.py first")
    size = max(complete)
    found = results[size]
    print_constants(found, size)
    print()
    print_machines(found)
    print()
    print_comparison(found)
    print()
    print_engine(found)
    print()
    print_builds(found, size)
    return 0


if __name__ == "__main__":
    sys.exit(main())
