"""Measures throughput, overload, memory, reloads and start-up: `python benchmarks/serve.py`.

Generated corpora (see `synthetic`) of `--chunks` chunks are built, or taken from `--folder` if they
are there, and exported. The export runs in a process of this interpreter, and gets requests over
loopback by wrk (`apt-get install wrk`). With one core for the server and one for wrk, the figures
are those of one worker. Start-up is measured from the start of the process.
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common import machine, row
from processes import Memory, MemoryWatch, cpu_seconds, memory_of
from synthetic import built_project, queries_of
from wrk import Load, load, version, write_script

from foundry import pipeline
from foundry.runtime.index.layout import manifest_bytes

CONNECTIONS = 32
LOADS = (1, 2, 10)
RELOADS = 50
STARTS = 7
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
START = (
    "import runpy, sys; sys.path.insert(0, {folder!r});"
    " runpy.run_module('benchmark', run_name='__main__', alter_sys=True)"
)
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}


def command(export: Path) -> list[str]:
    """Return the command that runs an export."""
    return [sys.executable, "-c", START.format(folder=str(export))]


@contextmanager
def running(export: Path, *arguments: str, **variables: str) -> Iterator[tuple[str, int]]:
    """Run an export's server; yields its address and process id."""
    process = subprocess.Popen(
        [*command(export), "serve", "--port", "0", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT | variables,
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        address = re.search(r"http://\S+?:\d+", line)
        assert address is not None, line + process.stderr.read()
        reader = threading.Thread(target=process.stderr.read)
        reader.start()
        yield address[0], process.pid
    finally:
        process.terminate()
        assert process.wait(timeout=60) == 0
    reader.join()


def measure_loads(
    chunks: int, export: Path, queries: list[str], seconds: float, work: Path
) -> None:
    """Print rows for an empty endpoint, and for searches at each load."""
    script = work / "search.lua"
    write_script(script, queries)
    with running(export, LOG_LEVEL="warning") as (address, pid):
        load(address, CONNECTIONS, 2, script)
        empty, used, memory = measure_load(f"{address}/healthz", pid, CONNECTIONS, seconds)
        print_load(f"{chunks:,}", f"/healthz, {CONNECTIONS}", empty, empty.rate, used, memory)
        for connections in (times * CONNECTIONS for times in LOADS):
            with health_checks(address) as waits:
                found, used, memory = measure_load(address, pid, connections, seconds, script)
            name = f"/search, {connections}"
            slowest = f"{max(waits):.0f} ms"
            print_load("", name, found, empty.rate, used, memory, slowest)


def measure_load(
    url: str, pid: int, connections: int, seconds: float, script: Path | None = None
) -> tuple[Load, float, Memory]:
    """Return a load, the processor milliseconds per answer, and the maximum memory."""
    before = cpu_seconds(pid)
    with MemoryWatch(pid) as watch:
        found = load(url, connections, seconds, script)
    used = (cpu_seconds(pid) - before) / seconds / (found.rate - found.refused)
    return found, used * 1000, watch.most


def print_load(
    chunks: str,
    name: str,
    found: Load,
    empty: float,
    used: float,
    memory: Memory,
    slowest: str = "",
) -> None:
    """Print the row of a load; `empty` is the rate of the empty endpoint."""
    good = found.rate - found.refused
    row(
        *(chunks, name, f"{good:,.0f}", f"{good / empty:.2f}", f"{used:.2f} ms"),
        *(f"{found.median:.1f} ms", f"{found.p99:.1f} ms"),
        *(f"{found.refused:.0f}/s", found.errors, slowest),
        f"{memory.held:.0f}, {memory.private:.0f}",
    )


@contextmanager
def health_checks(address: str) -> Iterator[list[float]]:
    """Request /healthz five times a second; yields the list of response times in milliseconds."""
    waits: list[float] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.wait(0.2):
            begun = time.perf_counter()
            with urllib.request.urlopen(f"{address}/healthz", timeout=30) as reply:
                assert reply.status == 200
            waits.append((time.perf_counter() - begun) * 1000)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield waits
    finally:
        stop.set()
        asking.join()


def measure_reloads(project: Path, export: Path, work: Path) -> None:
    """Publish repeatedly while the server is under load; no response may fail."""
    published = work / "published"
    shutil.copytree(project / ".foundry" / "index", published)
    names = [(published / "CURRENT").read_text().strip()]
    copy = published / "v999999"
    shutil.copytree(published / names[0], copy)
    # The manifest identifies the version: the copy has the same content under another hash.
    manifest = json.loads((copy / "manifest.json").read_bytes())
    manifest["config_sha256"] = "0" * 64
    (copy / "manifest.json").write_bytes(manifest_bytes(manifest))
    names.append(copy.name)
    with running(export, INDEX_DIR=str(published), LOG_LEVEL="warning") as (address, _):
        results: list[Load] = []
        seconds = RELOADS * 2.0
        script = work / "search.lua"
        loading = threading.Thread(
            target=lambda: results.append(load(address, CONNECTIONS, seconds, script))
        )
        loading.start()
        versions = set()
        seen = 0
        while loading.is_alive() and seen < RELOADS:
            staged = published / "CURRENT.tmp"
            staged.write_text(names[(seen + 1) % 2] + "\n", encoding="ascii")
            before = _version(address)
            staged.replace(published / "CURRENT")
            while loading.is_alive() and _version(address) == before:
                time.sleep(0.05)
            versions.add(_version(address))
            seen += 1
        loading.join()
    found = results[0]
    print(
        f"{seen} reloads under load: {found.rate:.0f}/s, p99 {found.p99:.1f} ms,"
        f" {found.refused * seconds:.0f} refused, {found.errors} errors, {len(versions)} versions"
    )


def _version(address: str) -> str:
    with urllib.request.urlopen(f"{address}/readyz", timeout=30) as reply:
        return str(json.load(reply)["index_version"])


def measure_starts(chunks: int, export: Path) -> None:
    """Print a row: time from start to first response, over HTTP and over stdio, and memory."""
    found: dict[str, list[float]] = {}
    for _ in range(STARTS):
        begun = time.perf_counter()
        with running(export) as (address, pid):
            found.setdefault("listening", []).append(_since(begun))
            with urllib.request.urlopen(f"{address}/search?q=first", timeout=60) as reply:
                reply.read()
            found.setdefault("answer", []).append(_since(begun))
            found.setdefault("processor", []).append(cpu_seconds(pid) * 1000)
            time.sleep(1)
            idle = memory_of(pid)
            found.setdefault("held", []).append(idle.held)
            found.setdefault("private", []).append(idle.private)
            touch_mcp(address)
            found.setdefault("with MCP", []).append(memory_of(pid).held)
        found.setdefault("initialized", []).append(time_stdio(export))
    middle = {name: statistics.median(values) for name, values in found.items()}
    row(
        f"{chunks:,}",
        *(f"{middle[name]:.0f} ms" for name in ("listening", "answer", "processor")),
        f"{max(found['answer']):.0f} ms",
        f"{middle['initialized']:.0f} ms",
        f"{middle['held']:.0f}, {middle['private']:.0f}",
        f"{middle['with MCP']:.0f}",
    )


def _since(begun: float) -> float:
    return (time.perf_counter() - begun) * 1000


def time_stdio(export: Path) -> float:
    """Return the milliseconds from the start of `mcp` to its response to `initialize`."""
    begun = time.perf_counter()
    with subprocess.Popen(
        [*command(export), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(INITIALIZE) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        taken = _since(begun)
        assert "serverInfo" in answer["result"], answer
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    return taken


def touch_mcp(address: str) -> None:
    """Initialise an MCP session over HTTP."""
    fields = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    request = urllib.request.Request(f"{address}/mcp", json.dumps(INITIALIZE).encode(), fields)
    with urllib.request.urlopen(request, timeout=60) as reply:
        assert reply.read()


def main() -> int:
    """Print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--folder", type=Path, help="keep the corpora here, and use them again")
    parser.add_argument("--seconds", type=float, default=8.0, help="of each load (%(default)s)")
    parser.add_argument("--reloads", action="store_true", help="reload under load as well")
    chosen = parser.parse_args()
    if shutil.which("wrk") is None:
        parser.error("wrk is not installed")
    print(machine(), version(), sep=", ", end="\n\n")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        exports: list[tuple[int, Path, Path]] = []
        for chunks in chosen.chunks:
            project = built_project(chosen.folder or work, chunks)
            target = work / f"export-{chunks}"
            export = pipeline.export(project, target, print, force=False, trust=False)
            exports.append((chunks, project, export))
        columns = "chunks|listening|first answer|processor|slowest|stdio MCP initialized"
        row(*f"{columns}|idle MB, private|with MCP".split("|"))
        row(*["---"] * 8)
        for chunks, _, export in exports:
            measure_starts(chunks, export)
        print()
        columns = "chunks|load, connections|answers/s|to /healthz|CPU each|median|p99"
        row(*f"{columns}|refused|errors|slowest /healthz meanwhile|MB, private".split("|"))
        row(*["---"] * 11)
        for chunks, project, export in exports:
            measure_loads(chunks, export, queries_of(project), chosen.seconds, work)
        print()
        for _, project, export in exports[:1] if chosen.reloads else []:
            measure_reloads(project, export, work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
