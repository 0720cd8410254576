"""Builds of generated corpora, from a thousand chunks up: `python benchmarks/scale.py`.

For each of `--chunks` a table of records (see `synthetic`; eight chunks' text a record) is built
with the default configuration by `foundry build`'s own code in a process of its own: seconds by
stage, the most memory that the process and its workers hold together, and the bytes of the index by
file. `--writer` writes the corpora with the index writer alone, over vectors that are there, in one
process: what it takes without reading, splitting and embedding.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from build import megabytes_of
from common import machine, make_project
from synthetic import Corpus

from foundry import pipeline
from foundry.progress import Progress, Reporter

SAMPLE_SECONDS = 0.2
GROUPS = {
    "chunks": "texts",
    "documents": "documents",
    "terms": "postings",
    "postings": "postings",
    "vectors": "vectors",
    "sketch": "vectors",
    "encoder": "encoder",
}
"""What the files of an index are part of, by the first word of their names."""


class TimedSteps(Reporter):
    """Says nothing, and notes when each step began."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.begun: list[tuple[str, float]] = []

    def step(self, label: str, unit: str, total: int | None = None) -> Progress:
        """Begin a step."""
        self.begun.append((label, time.monotonic()))
        return super().step(label, unit, total)


def build_here(project: Path) -> dict[str, object]:
    """Build in this process: chunks, and the seconds of each step."""
    steps = TimedSteps()
    result = pipeline.build(project, steps)
    ends = [begun for _, begun in steps.begun[1:]] + [time.monotonic()]
    seconds = {label: end - begun for (label, begun), end in zip(steps.begun, ends, strict=True)}
    return {"chunks": result.chunks, "seconds": seconds, "index": result.index}


def write_here(chunks: int, folder: Path) -> dict[str, object]:
    """Write an index in this process: chunks, and the seconds of CPU."""
    corpus = Corpus(chunks)
    used = time.process_time()
    corpus.write_index(folder)
    seconds = {"Writing": time.process_time() - used}
    return {"chunks": chunks, "seconds": seconds, "index": str(folder)}


def measure(chunks: int, work: Path, *, writer: bool) -> None:
    """Build one corpus, and print its row and the sizes of its files."""
    if writer:
        job = ["--write", str(work / "index"), "--chunks", str(chunks)]
    else:
        project = make_project(work / "project", 'type = "records"\npath = "corpus.jsonl"')
        Corpus(chunks).write_records(project / "corpus.jsonl")
        job = ["--build", str(project)]
    most = 0.0
    command = [sys.executable, __file__, *job]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            # A process may have ended meanwhile.
            with suppress(OSError):
                most = max(most, megabytes_of(process.pid))
            time.sleep(SAMPLE_SECONDS)
        assert process.stdout is not None
        found = json.loads(process.stdout.read().splitlines()[-1])
    count, seconds = found["chunks"], found["seconds"]
    total = sum(seconds.values())
    sizes: dict[str, int] = {}
    index = Path(found["index"])
    for path in index.rglob("*"):
        if path.is_file():
            name = path.relative_to(index).parts[0].partition(".")[0]
            group = GROUPS.get(name, "others")
            sizes[group] = sizes.get(group, 0) + path.stat().st_size
    stages = ", ".join(f"{label} {taken:.1f}" for label, taken in seconds.items())
    parts = ", ".join(f"{name} {size / count:.0f}" for name, size in sorted(sizes.items()))
    print(
        f"| {count:,} | {total:.1f} | {stages} | {count / total:,.0f} | {most:.0f}"
        f" | {sum(sizes.values()) / 1e6:.0f} | {sum(sizes.values()) / count:.0f}: {parts} |",
        flush=True,
    )


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chunks", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--folder", type=Path, help="where to work; temporary unless given")
    parser.add_argument("--writer", action="store_true", help="the index writer alone")
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.build:
        print(json.dumps(build_here(chosen.build)))
        return 0
    if chosen.write:
        print(json.dumps(write_here(chosen.chunks[0], chosen.write)))
        return 0
    print(machine())
    columns = "chunks|seconds|by stage|chunks/s|most MB|index MB|bytes a chunk".split("|")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for chunks in chosen.chunks:
        with tempfile.TemporaryDirectory(dir=chosen.folder) as work:
            measure(chunks, Path(work), writer=chosen.writer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
