"""Measures searches of a rendered server in a separate process.

`python searching.py FOLDER PACKAGE INDEX QUERIES` prints JSON: the time of opening the index, the
latency of each mode and of two threads, and the memory. Only the server and NumPy are imported, so
that the memory is that of a process that only searches.
"""

import importlib
import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from latency import ask_all, ask_in_threads
from processes import memory_of, run_script

MODES = ("keyword", "semantic", "hybrid")
OPENINGS = 9
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
    """Run this script for a server whose package is named like the folder `rendered`."""
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
    manifest = opened.manifest
    found["chunks"] = manifest.chunks
    found["candidates"] = manifest.dense["candidates"]
    found["recall"] = min(manifest.dense["recall_at_20"].values())
    return found


def _open_again(server: Any, index: Path) -> tuple[float, float]:
    """Return the median milliseconds of wall and processor time of opening."""
    open_index = importlib.import_module(f"{server.__name__}.opening").open_index
    wall, used = [], []
    for _ in range(OPENINGS):
        begun, before = time.perf_counter(), time.process_time()
        open_index(index)
        used.append((time.process_time() - before) * 1000)
        wall.append((time.perf_counter() - begun) * 1000)
    return float(np.median(wall)), float(np.median(used))


def main() -> int:
    """Measure in this process, and print JSON."""
    folder, package, index, queries = sys.argv[1:]
    sys.path.insert(0, folder)
    server = importlib.import_module(package)
    asked = json.loads(Path(queries).read_bytes())
    print(json.dumps(_measure(server, Path(index), asked)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
