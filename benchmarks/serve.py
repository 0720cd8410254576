"""Throughput, overload, reloads and start-up of an exported server: `python benchmarks/serve.py`.

Builds and exports a generated corpus (seeded, one chunk a record), runs the export as a process
with the interpreter that runs this, and loads it over loopback with wrk. Needs wrk
(`apt-get install wrk`). With one core for the server and one for wrk the figures are those of one
worker.
"""

import argparse
import json
import os
import random
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
from dataclasses import dataclass
from pathlib import Path

from common import build, machine, make_project

from foundry import pipeline

SEED = 20261121
WORDS = 70
QUERIES = 400
CONNECTIONS = 32
LOADS = (1, 2, 10)
RELOADS = 50
STARTS = 7
START = (
    "import runpy, sys; sys.path.insert(0, {folder!r});"
    " runpy.run_module('benchmark', run_name='__main__', alter_sys=True)"
)
SCRIPT = """
local queries = {{{queries}}}
local place = 0
request = function()
  place = place % #queries + 1
  return wrk.format("POST", "/search", {{["Content-Type"] = "application/json"}}, queries[place])
end
"""


@dataclass(frozen=True, slots=True)
class Load:
    """What wrk measured: answers a second, those of them that were refused or failed, ms."""

    rate: float
    refused: float
    errors: int
    median: float
    p99: float


def write_corpus(folder: Path, chunks: int) -> list[str]:
    """Write `chunks` records of words as frequent as in a text; return queries for them."""
    chooser = random.Random(SEED)
    table = Path(__file__).parents[1] / "foundry/models/static-en/pieces.txt"
    pieces = table.read_text(encoding="utf-8").split()
    words = [word for word in pieces if re.fullmatch("[a-z]{4,12}", word)]
    chooser.shuffle(words)
    weights = [1 / (rank + 3) for rank in range(len(words))]
    queries = []
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as file:
        for number in range(chunks):
            text = chooser.choices(words, weights, k=WORDS)
            record = {"id": f"r{number}", "title": " ".join(text[:4]), "text": " ".join(text)}
            file.write(json.dumps(record) + "\n")
            if number % max(1, chunks // QUERIES) == 0:
                queries.append(" ".join(chooser.sample(text, 5)))
    return queries[:QUERIES]


@contextmanager
def running(export: Path, *arguments: str, **variables: str) -> Iterator[tuple[str, int]]:
    """Run an export's server; its address and process id."""
    command = [sys.executable, "-c", START.format(folder=str(export)), "serve", "--port", "0"]
    process = subprocess.Popen(
        [*command, *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={"PATH": "/usr/bin:/bin", **variables},
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


def load(url: str, connections: int, seconds: float, script: Path | None = None) -> Load:
    """Ask for `seconds` over `connections`, each with one request at a time."""
    command = ["wrk", "--latency", "-t1", f"-c{connections}", f"-d{seconds:.0f}s", "--timeout=10s"]
    if script:
        command += ["-s", str(script)]
    said = subprocess.run([*command, url], check=True, capture_output=True, text=True).stdout
    requests, took, unit = re.findall(r"(\d+) requests in ([\d.]+)(s|m)", said)[0]
    took = float(took) * (60 if unit == "m" else 1)
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
    errors = re.search(r"connect (\d+), read (\d+), write (\d+), timeout (\d+)", said)
    return Load(
        int(requests) / took,
        int(refused[1]) / took if refused else 0.0,
        sum(map(int, errors.groups())) if errors else 0,
        _milliseconds(said, "50"),
        _milliseconds(said, "99"),
    )


def cpu_seconds(pid: int) -> float:
    """What a process has used so far: on a busy machine, a steadier measure than its rate."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _milliseconds(said: str, share: str) -> float:
    number, unit = re.findall(rf"{share}%\s+([\d.]+)(us|ms|s)", said)[0]
    return float(number) * {"us": 0.001, "ms": 1.0, "s": 1000.0}[unit]


def measure_loads(export: Path, queries: list[str], seconds: float, work: Path) -> None:
    """The empty endpoint, and searches at each load."""
    script = work / "search.lua"
    bodies = ", ".join(f"[[{json.dumps({'query': query})}]]" for query in queries)
    script.write_text(SCRIPT.format(queries=bodies), encoding="utf-8")
    with running(export, LOG_LEVEL="warning") as (address, pid):
        load(address, CONNECTIONS, 2, script)
        empty = load(f"{address}/healthz", CONNECTIONS, seconds)
        print(f"/healthz: {empty.rate:.0f}/s, p99 {empty.p99:.1f} ms")
        peak = 0.0
        for times in LOADS:
            with health_checks(address) as waits:
                used = cpu_seconds(pid)
                found = load(address, CONNECTIONS * times, seconds, script)
                used = cpu_seconds(pid) - used
            good = found.rate - found.refused
            peak = peak or good
            print(
                f"/search at {times:2} x {CONNECTIONS} connections: {good:.0f}/s"
                f" ({good / peak:.2f} of the first, {good / empty.rate:.2f} of /healthz),"
                f" {used / seconds / good * 1000:.2f} ms of CPU each,"
                f" median {found.median:.1f} ms, p99 {found.p99:.1f} ms,"
                f" {found.refused:.0f}/s refused, {found.errors} errors;"
                f" /healthz meanwhile at most {max(waits):.0f} ms"
            )
        print(f"memory after that: {proportional_megabytes(pid):.0f} MB (PSS)")


@contextmanager
def health_checks(address: str) -> Iterator[list[float]]:
    """Ask /healthz five times a second; how long each answer took, in milliseconds."""
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
    """Publish again and again while the server is under load: no answer may fail."""
    published = project / ".foundry" / "index"
    names = [(published / "CURRENT").read_text().strip()]
    copy = published / "v999999"
    shutil.copytree(published / names[0], copy)
    # The same content under another hash: the manifest is what names a version.
    manifest = json.loads((copy / "manifest.json").read_bytes())
    manifest["config_sha256"] = "0" * 64
    (copy / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
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


def measure_starts(export: Path) -> None:
    """From spawning the process to the first answer, and memory when idle."""
    times, memory, memory_mcp = [], [], []
    for _ in range(STARTS):
        begun = time.perf_counter()
        with running(export) as (address, pid):
            with urllib.request.urlopen(f"{address}/search?q=first", timeout=60) as reply:
                reply.read()
            times.append((time.perf_counter() - begun) * 1000)
            time.sleep(1)
            memory.append(proportional_megabytes(pid))
            if touch_mcp(address):
                memory_mcp.append(proportional_megabytes(pid))
    print(f"first answer after spawning: median {statistics.median(times):.0f} ms")
    print(f"idle memory: {statistics.median(memory):.0f} MB (PSS)")
    if memory_mcp:
        print(f"idle memory after an MCP call: {statistics.median(memory_mcp):.0f} MB (PSS)")


def touch_mcp(address: str) -> bool:
    """Initialise an MCP session; whether the server has that door."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "benchmark", "version": "1"},
        },
    }
    fields = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    request = urllib.request.Request(f"{address}/mcp", json.dumps(body).encode(), fields)
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return bool(reply.read())
    except urllib.error.HTTPError:
        return False


def proportional_megabytes(pid: int) -> float:
    """Memory of a process, shared pages divided among those that share them."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    match = re.search(r"(?m)^Pss:\s+(\d+) kB", rollup)
    assert match is not None
    return int(match[1]) / 1024


def main() -> int:
    """Print one figure a line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000])
    parser.add_argument("--seconds", type=float, default=8.0, help="of each load (%(default)s)")
    parser.add_argument("--reloads", action="store_true", help="reload under load as well")
    chosen = parser.parse_args()
    if shutil.which("wrk") is None:
        parser.error("wrk is not installed")
    print(machine())
    for chunks in chosen.chunks:
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            queries = write_corpus(work, chunks)
            project = make_project(
                work / "project", f'type = "records"\npath = "{work / "corpus.jsonl"}"'
            )
            result = build(project)
            export = pipeline.export(project, None, force=False, trust=False)
            print(f"\n{result.chunks} chunks")
            measure_starts(export)
            measure_loads(export, queries, chosen.seconds, work)
            if chosen.reloads:
                measure_reloads(project, export, work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
