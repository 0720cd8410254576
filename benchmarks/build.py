"""Builds after edits: `python benchmarks/build.py FOLDER [--jobs N]`.

FOLDER is copied, built with the default configuration, built again unchanged, and after one file
was changed, removed and added. Every build is a process of its own. Memory is the most that the
process and its workers hold together (proportional set size, sampled ten times a second).
"""

import argparse
import json
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import machine, make_project

SAMPLE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Run:
    """One build: its own result, seconds of wall and of processor, megabytes, rows it wrote."""

    result: dict[str, Any]
    seconds: float
    processor: float
    megabytes: float
    rows: int


def children(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for process in found:
        for task in Path(f"/proc/{process}/task").glob("*/children"):
            found += [int(child) for child in task.read_text().split()]
    return found


def megabytes_of(pid: int) -> float:
    """What a process and all below it hold; pages that several share are counted once."""
    total = 0
    for process in children(pid):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total / 1024


def rows_of(project: Path) -> set[tuple[Any, ...]]:
    """The rows of the cache of documents, without the documents themselves."""
    path = project / ".foundry" / "documents.sqlite"
    if not path.exists():
        return set()
    with closing(sqlite3.connect(path)) as connection:
        documents = connection.execute("SELECT 'documents', * FROM documents").fetchall()
        prepared = connection.execute("SELECT 'prepared', id, checksum FROM prepared").fetchall()
    return {*documents, *prepared}


def run(project: Path, jobs: int | None) -> Run:
    """Build in a process of its own."""
    before = rows_of(project)
    command = [sys.executable, "-m", "foundry", "build", str(project), "--json", "--quiet"]
    command += ["--jobs", str(jobs)] if jobs else []
    most = 0.0
    used = processor_seconds()
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            # A process may have ended meanwhile.
            with suppress(OSError):
                most = max(most, megabytes_of(process.pid))
            time.sleep(SAMPLE_SECONDS)
        seconds = time.perf_counter() - start
        assert process.stdout is not None
        result = json.loads(process.stdout.read())
    used = processor_seconds() - used
    return Run(result, seconds, used, most, len(before ^ rows_of(project)))


def processor_seconds() -> float:
    """What all processes that have ended below this one took."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int)
    arguments = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as work:
        project = make_project(Path(work) / "project", 'type = "folder"\npath = "sources"')
        sources = project / "sources"
        shutil.copytree(arguments.folder, sources)
        paths = sorted(path for path in sources.rglob("*.md") if path.stat().st_size > 2_000)
        changed, removed = paths[len(paths) // 3], paths[len(paths) // 2]

        def change() -> None:
            changed.write_text(changed.read_text(encoding="utf-8") + "\nOne sentence more.\n")

        steps: list[tuple[str, Callable[[], object]]] = [
            ("first build", lambda: None),
            ("nothing changed", lambda: None),
            ("one file changed", change),
            ("one file removed", removed.unlink),
            ("one file added", lambda: shutil.copy(changed, sources / "zz-added.md")),
        ]
        # Old enough for the stamps of all files to be trusted.
        time.sleep(2)
        columns = (
            "build|seconds|processor|read|reused|removed|embedded|rows written|MB|chunks/s".split(
                "|"
            )
        )
        print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
        for name, step in steps:
            step()
            done = run(project, arguments.jobs)
            changes = done.result["changes"]
            rate = done.result["chunks"] / done.seconds
            print(
                f"| {name} | {done.seconds:.1f} | {done.processor:.1f} | {changes['read']:,}"
                f" | {changes['reused']:,} | {changes['removed']:,} | {changes['embedded']:,}"
                f" | {done.rows:,} | {done.megabytes:.0f} | {rate:,.0f} |"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
