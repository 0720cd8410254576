"""Searches of a rendered server, in a process of its own.

`python searching.py FOLDER PACKAGE INDEX QUERIES` prints JSON: how long opening the index takes,
the latency of each mode and stage and of two threads, and memory; then what queries of the greatest
length cost, and how much memory stays taken after many of them. Nothing but the server and numpy is
imported, so that the memory is that of a process that only searches.
"""

import gc
import importlib
import json
import os
import random
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from latency import ask_all, ask_in_threads, percentiles
from processes import memory_of, run_script

MODES = ("keyword", "semantic", "hybrid")
OPENINGS = 9
LONGEST_QUERY = 2_000
"""Characters; what a server takes."""

LONG_QUERIES = 40
"""Of each kind, all different."""

LASTING_QUERIES = 30_000
LIBRARY_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "LANCE_CPU_THREADS",
)


def measure_searches(
    rendered: Path, index: Path, queries: Path, threads: int = 1
) -> dict[str, Any]:
    """Start this script for a server rendered as the package that `rendered` is named after."""
    limits = dict.fromkeys(LIBRARY_THREADS, str(threads))
    arguments = (str(rendered), rendered.name, str(index), str(queries))
    return run_script(Path(__file__), *arguments, variables=limits).said


def _measure(server: Any, index: Path, queries: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    begun = time.perf_counter()
    opened = server.load(index)
    found["first open"] = (time.perf_counter() - begun) * 1000
    found["open"], found["open cpu"] = _open_again(server, index)
    server.search_hybrid(queries[0])
    found["idle"] = asdict(memory_of(os.getpid()))
    for mode in MODES:
        found[mode] = ask_all(
            lambda query, mode=mode: server.search_hybrid(query, mode=mode),  # type: ignore[misc]
            queries,
        )
    found["two threads"] = ask_in_threads(server.search_hybrid, queries, 2)
    found["searching"] = asdict(memory_of(os.getpid()))
    found["stages"] = _observe(server, queries)
    found["long"] = {
        kind: ask_all(server.search_hybrid, [make(number) for number in range(LONG_QUERIES)])
        for kind, make in _long_queries(queries).items()
    }
    found["growth"] = _measure_growth(server)
    manifest = opened.manifest
    found["chunks"] = manifest.chunks
    found["candidates"] = manifest.dense["candidates"]
    found["recall"] = min(manifest.dense["recall_at_20"].values())
    return found


def _long_queries(queries: list[str]) -> dict[str, Callable[[int], str]]:
    """Queries of the greatest length by kind: each a function of the query's number."""
    words = sorted({word for query in queries for word in query.split()})

    def some(number: int, join: Callable[[random.Random], str]) -> str:
        chooser = random.Random(number)
        return "".join(join(chooser) for _ in range(LONGEST_QUERY))[:LONGEST_QUERY]

    def letters(chooser: random.Random) -> str:
        return "".join(chooser.choices("abcdefghijklmnopqrstuvwxyz", k=9))

    return {
        "words of the corpus": lambda n: some(n, lambda c: c.choice(words) + " "),
        "camelCase of the corpus": lambda n: some(
            n, lambda c: f"{c.choice(words)}{c.choice(words).title()} "
        ),
        "unknown words": lambda n: some(n, lambda c: letters(c) + " "),
        "unknown camelCase": lambda n: some(n, lambda c: f"{letters(c)}{letters(c).title()} "),
        "Han": lambda n: some(n, lambda c: chr(c.randrange(0x4E00, 0x9FFF))),
        "U+FDFA": lambda _: "\ufdfa" * LONGEST_QUERY,
        "letters": lambda n: some(n, lambda c: c.choice("bcdefghjk") + " "),
        "one word": lambda n: some(n, letters),
    }


def _measure_growth(server: Any) -> float:
    """By how many MB the process grows while each of many queries has words of its own."""
    chooser = random.Random(1)
    for number in range(LASTING_QUERIES + 1):
        if number == 1:
            before = memory_of(os.getpid()).private
        digits = chooser.randbytes(LONGEST_QUERY // 2).hex()
        length = chooser.choice((LONGEST_QUERY, 500, 120, 60, 30, 12))
        words = [digits[start : start + length - 1] for start in range(0, len(digits), length)]
        server.search_hybrid(" ".join(words))
    gc.collect()
    return memory_of(os.getpid()).private - before


def _open_again(server: Any, index: Path) -> tuple[float, float]:
    """Milliseconds of wall and of processor that opening takes, median."""
    open_index = importlib.import_module(f"{server.__name__}.index.reader").served.open_index
    wall, used = [], []
    for _ in range(OPENINGS):
        begun, before = time.perf_counter(), time.process_time()
        open_index(index)
        used.append((time.process_time() - before) * 1000)
        wall.append((time.perf_counter() - begun) * 1000)
    return float(np.median(wall)), float(np.median(used))


def _observe(server: Any, queries: list[str]) -> dict[str, dict[str, float]]:
    """Return the time that each stage of `search_hybrid` takes."""
    search = importlib.import_module(f"{server.__name__}.search")
    stages = importlib.import_module(f"{server.__name__}.retrieval.candidates")
    for name, function in (
        ("completion", "complete_lanes"),
        ("fusion", "fuse_linear"),
        ("records", "respond"),
    ):
        setattr(search, function, stages.stage(name)(getattr(search, function)))
    times: dict[str, list[float]] = {}
    stages.observers.append(lambda name, seconds: times.setdefault(name, []).append(seconds * 1e3))
    for query in queries:
        server.search_hybrid(query)
    return {name: percentiles(values) for name, values in times.items()}


def main() -> int:
    """Measure here, and print JSON."""
    folder, package, index, queries = sys.argv[1:]
    sys.path.insert(0, folder)
    server = importlib.import_module(package)
    asked = json.loads(Path(queries).read_bytes())
    print(json.dumps(_measure(server, Path(index), asked)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
