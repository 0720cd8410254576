"""Measures builds after edits: `python benchmarks/build.py FOLDER [--jobs N]`.

FOLDER is copied and built with the default configuration. It is built again without a change, and
after one file was changed, removed and added. Every build is a separate process. Memory is the
maximum of the process and its workers together (proportional set size, sampled ten times a second).
For builds of generated corpora of up to a million chunks, see `scale.py`.
"""

import argparse
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from common import machine, make_project, row
from timed_build import timed_build

TEXTS = (".md", ".mdx", ".txt")
"""Suffixes of files to which a sentence can be appended."""


def rows_of(project: Path) -> set[tuple[Any, ...]]:
    """Return the rows of the cache of documents, without the documents themselves."""
    path = project / ".foundry" / "documents.sqlite"
    if not path.exists():
        return set()
    with closing(sqlite3.connect(path)) as connection:
        return {*connection.execute("SELECT key, checksum FROM entries")}


def measure(name: str, project: Path, jobs: int | None) -> None:
    """Build, and print a row."""
    before = rows_of(project)
    built = timed_build(project, jobs)
    changes = built.changes
    row(
        name,
        f"{built.seconds:.1f}",
        ", ".join(f"{stage.lower()} {seconds:.1f}" for stage, seconds in built.stages.items()),
        f"{built.processor:.1f}",
        *(f"{changes.read:,}", f"{changes.reused:,}", f"{changes.removed:,}"),
        f"{changes.embedded:,}",
        f"{len(before ^ rows_of(project)):,}",
        f"{built.memory.held:.0f}",
        f"{built.documents / built.seconds:,.0f}",
        f"{built.chunks / built.seconds:,.0f}",
    )


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int)
    arguments = parser.parse_args()
    print(machine(), end="\n\n")
    with tempfile.TemporaryDirectory() as work:
        project = make_project(Path(work) / "project", 'type = "folder"\npath = "sources"')
        sources = project / "sources"
        shutil.copytree(arguments.folder, sources)
        paths = sorted(
            path
            for path in sources.rglob("*")
            if path.suffix in TEXTS and path.stat().st_size > 2_000
        )
        changed, removed = paths[len(paths) // 3], paths[len(paths) // 2]

        def change() -> None:
            changed.write_text(changed.read_text(encoding="utf-8") + "\nOne sentence more.\n")

        steps: list[tuple[str, Callable[[], object]]] = [
            ("first build", lambda: None),
            ("nothing changed", lambda: None),
            ("one file changed", change),
            ("one file removed", removed.unlink),
            ("one file added", lambda: shutil.copy(changed, sources / f"zz-added{changed.suffix}")),
        ]
        # A build trusts a file's modification time only once the file is this old.
        time.sleep(2)
        columns = (
            "build|seconds|by stage|processor|read|reused|removed|embedded|rows written|MB"
            "|files/s|chunks/s"
        ).split("|")
        row(*columns)
        row(*["---"] * len(columns))
        for name, step in steps:
            step()
            measure(name, project, arguments.jobs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
