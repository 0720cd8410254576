"""Build rate, search latency, start-up, memory and size: `python benchmarks/footprint.py FOLDER`.

FOLDER is built and exported with the default configuration; the export is started as a process of
its own with the interpreter that runs this.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from common import build, load_server, machine, make_project

from foundry import pipeline

STARTS = 7
QUERIES = 300
START = (
    "import runpy, sys; sys.path.insert(0, {folder!r});"
    " runpy.run_module('benchmark', run_name='__main__', alter_sys=True)"
)


def first_answer(export: Path) -> tuple[float, float]:
    """Milliseconds from spawning the server to its first search answer; megabytes when idle."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", START.format(folder=str(export)), "serve", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        address = re.search(r"http://\S+?:\d+", process.stderr.readline())
        assert address is not None
        with urllib.request.urlopen(f"{address[0]}/search?q=first+question", timeout=60) as reply:
            assert json.load(reply)["results"]
        elapsed = (time.perf_counter() - start) * 1000
        time.sleep(1)
        return elapsed, private_megabytes(process.pid)
    finally:
        process.terminate()
        process.wait(timeout=30)


def private_megabytes(pid: int) -> float:
    """Memory that a process holds beside its mapped files (anonymous resident pages)."""
    status = Path(f"/proc/{pid}/status").read_text()
    match = re.search(r"RssAnon:\s+(\d+) kB", status)
    assert match is not None
    return int(match[1]) / 1024


def folder_megabytes(folder: Path) -> float:
    """Size of everything below a folder, in millions of bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def main() -> int:
    """Print one figure a line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    print(machine())
    with tempfile.TemporaryDirectory() as work:
        project = make_project(
            Path(work) / "project", f'type = "folder"\npath = "{folder.resolve()}"'
        )
        result = build(project)
        print(f"build: {result.documents} documents, {result.chunks} chunks in {result.seconds} s,")
        print(f"       {result.chunks / result.seconds:.0f} chunks/s; skipped {result.skipped}")
        export = pipeline.export(project, None, force=False, trust=False)
        print(f"export: {folder_megabytes(export):.1f} MB, of which the index is")
        print(f"       {folder_megabytes(export / 'benchmark' / 'index'):.1f} MB")

        server = load_server(project, "benchmark_footprint")
        index = server.load(project / ".foundry" / "index")
        step = max(1, index.document_count // QUERIES)
        queries = [index.document(n).title for n in range(0, index.document_count, step)]
        for query in queries[:20]:
            server.search_hybrid(query)
        times = []
        for query in queries:
            begun = time.perf_counter()
            server.search_hybrid(query)
            times.append((time.perf_counter() - begun) * 1000)
        cuts = statistics.quantiles(times, n=100)
        print(f"search_hybrid: median {cuts[49]:.2f} ms, p95 {cuts[94]:.2f}, p99 {cuts[98]:.2f}")
        encode = []
        for query in queries:
            begun = time.perf_counter()
            index.encoder.encode(query)
            encode.append((time.perf_counter() - begun) * 1e6)
        print(f"query encoding: median {statistics.median(encode):.0f} us")

        starts = [first_answer(export) for _ in range(STARTS)]
        print(
            f"first answer after spawning: median {statistics.median(s[0] for s in starts):.0f} ms"
        )
        print(
            f"idle memory beside the mapped index: {statistics.median(s[1] for s in starts):.0f} MB"
        )
    return 0


if __name__ == "__main__":
    os.environ.pop("INDEX_DIR", None)
    sys.exit(main())
