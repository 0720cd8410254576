"""Compares the dense lane with an exact scan: `python benchmarks/recall.py FOLDER ...`.

Each FOLDER of documents is built with the default configuration; one with a `foundry.toml` is a
project that has been built. Queries are spans of one to twelve words, equally many of each length,
drawn from the texts by a seed that the build does not use.

The first table has, by length, the share of the twenty nearest chunks that the lane finds, that
share for the worst tenth of the queries, and the cost of a search in the lane. The second compares
hybrid searches with hybrid searches whose dense lane scans everything: how many first pages (ten
results) have the same chunks, and the share of equal results.
"""

import argparse
import random
import statistics
import tempfile
import time
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from common import build, load_server, machine, make_project, row
from numpy.typing import NDArray

LENGTHS = (1, 2, 3, 4, 6, 8, 12)
DEPTH, PAGE, SEED = 20, 10, 30
REPEATS, RESULTS = 5, 100  # A hybrid search asks the lane for 100 results.


def draw(index: Any, count: int) -> dict[int, list[str]]:
    """Return `count` spans of each length that have a term and a vector."""
    chooser = random.Random(SEED)
    drawn: dict[int, list[str]] = {length: [] for length in LENGTHS}
    for length, spans in drawn.items():
        while len(spans) < count:
            words = index.chunk(chooser.randrange(index.chunk_count)).text.split()
            if len(words) >= length:
                start = chooser.randrange(len(words) - length + 1)
                span = " ".join(words[start : start + length])
                if index.tokenizer.terms(span) and index.encoder.encode(span) is not None:
                    spans.append(span)
    return drawn


def least_milliseconds(lane: Any, vector: NDArray[np.float32]) -> float:
    """Return the processor time of the fastest of some searches of a lane."""
    taken = []
    for _ in range(REPEATS):
        asked = vector.copy()  # The lane caches its work by vector object.
        begun = time.process_time_ns()
        lane.search(asked, RESULTS)
        taken.append(time.process_time_ns() - begun)
    return min(taken) / 1e6


def measure(project: Path, count: int) -> None:
    """Print both tables for a built project."""
    server = load_server(project, "recalled")
    index = import_module("recalled.opening").current_index()
    lane = index.dense_lane
    exact = replace(lane, candidates=len(lane.scales))
    drawn = draw(index, count)
    told = index.manifest.dense
    print(
        f"\n{project.name}: {index.chunk_count:,} chunks, {lane.candidates:,} candidates;", end=""
    )
    print(f" the manifest says {told['recall_at_20']}\n")
    row("words", "recall@20", "worst tenth", "ms", "pages the same", "results the same")
    row(*["---"] * 6)
    every: list[list[float]] = []
    for length, spans in drawn.items():
        shares, milliseconds, results = [], [], []
        for span in spans:
            vector = index.encoder.encode(span)
            wanted = set(exact.search(vector, DEPTH).chunks.tolist())
            found = lane.search(vector, DEPTH).chunks.tolist()
            shares.append(len(wanted.intersection(found)) / len(wanted))
            milliseconds.append(least_milliseconds(lane, vector))
            pages = []
            for index.dense_lane in (exact, lane):
                pages.append({hit.id for hit in server.search_hybrid(span, PAGE).hits})
            results.append(len(pages[0] & pages[1]) / max(1, len(pages[0])))
        worst = statistics.mean(sorted(shares)[: max(1, count // 10)])
        same = sum(share == 1 for share in results) / count
        mean = statistics.mean
        every.append([mean(shares), worst, mean(milliseconds), same, mean(results)])
        row(length, *(f"{value:.3f}" for value in every[-1]))
    row("all", *(f"{value:.3f}" for value in np.mean(every, axis=0)))


def main() -> None:
    """Build and measure each folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--queries", type=int, default=60, help="of each length (%(default)s)")
    options = parser.parse_args()
    print(machine())
    for folder in options.folders:
        if (folder / "foundry.toml").exists():
            measure(folder, options.queries)
            continue
        with tempfile.TemporaryDirectory() as made:
            source = f'type = "folder"\npath = "{folder.resolve()}"\n'
            project = make_project(Path(made) / folder.name, source)
            build(project)
            measure(project, options.queries)


if __name__ == "__main__":
    main()
