"""Sends queries of a log to one system, in a separate process.

`python asking.py WORK NAME WARM PASSES` prints JSON. WORK contains `asked.json`, `vectors.npy` and
the folders in which peers were built. NAME is a peer, or one of our modes; `ours.json` then has the
places of the rendered server and its index. Nothing else is imported, so that the memory is that of
a process that only searches.
"""

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from latency import ask_again, ask_all
from peers import PEERS, Ask
from processes import memory_of

OURS = {"ours, keyword": "keyword", "ours, semantic": "semantic", "ours, hybrid": "hybrid"}


def open_ours(work: Path, mode: str) -> Ask:
    """Import the rendered server, and load its index."""
    said = json.loads((work / "ours.json").read_bytes())
    rendered = Path(said["rendered"])
    sys.path.insert(0, str(rendered))
    server = importlib.import_module(rendered.name)
    server.load(said["index"], verify=False)
    return lambda query, _: server.search_hybrid(query, mode=mode)


def forget(folder: Path) -> None:
    """Make the kernel drop the cached pages of all unmapped files below a folder."""
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def recall_pages(folder: Path) -> None:
    """Read all files below a folder, so that the kernel caches them."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                while file.read(1 << 20):
                    pass


def megabytes_read() -> float:
    """Return how much this process has read from the disk so far."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["read_bytes"]) / 1e6


def measure(
    open_system: Callable[[], Ask],
    data: Path,
    queries: list[str],
    vectors: Any,
    warm: int,
    passes: int,
) -> dict[str, Any]:
    """Return the figures of a system whose files are in `data`; the first `warm` are not timed."""
    given = dict(zip(queries, vectors, strict=True))
    forget(data)
    read, begun = megabytes_read(), time.perf_counter()
    ask = open_system()
    opened = time.perf_counter()
    ask(queries[0], given[queries[0]])
    cold = {
        "open": (opened - begun) * 1000,
        "first": (time.perf_counter() - opened) * 1000,
        "MB": megabytes_read() - read,
    }
    recall_pages(data)
    for query in queries[:warm]:
        ask(query, given[query])
    log = queries[warm:]
    first = ask_all(lambda query: ask(query, given[query]), log, warm=0)
    log = log[: int(first["asked"])]
    again = ask_again(lambda query: ask(query, given[query]), log, passes)
    memory = asdict(memory_of(os.getpid()))
    return {"cold": cold, "first": first, "again": again, "memory": memory}


def main() -> int:
    """Measure in this process, and print JSON."""
    work, name = Path(sys.argv[1]), sys.argv[2]
    queries = json.loads((work / "asked.json").read_bytes())
    vectors = np.load(work / "vectors.npy")
    warm, passes = map(int, sys.argv[3:])
    if name in OURS:
        data = Path(json.loads((work / "ours.json").read_bytes())["index"])
        found = measure(lambda: open_ours(work, OURS[name]), data, queries, vectors, warm, passes)
    else:
        folder = work / "built" / name
        found = measure(lambda: PEERS[name].open(folder), folder, queries, vectors, warm, passes)
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
