"""A folder of scanned pages, and a build of it that is stopped: `python benchmarks/scans.py`.

Foundry's own documentation is drawn as pages of A4 at 200 dpi, each turned by up to a degree and a
little noisy, and stored as JPEG, PNG, TIFF of two pages and PDF of four. Three builds read them:
the first is interrupted (SIGINT) after a third of the files, the second killed (SIGKILL) later.
Seconds and memory are of all processes; what they hold together is sampled. With `--compare`, the
index must be the one of a build without a stop. Needs the extra `ocr`.
"""

import argparse
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import machine, make_project, row
from PIL import Image, ImageDraw, ImageFont
from processes import Memory, MemoryWatch

from foundry.building.documents.cache import CACHE_NAME, DocumentCache

SIZE = (1654, 2339)
"""Pixels of A4 at 200 dpi."""
MARGIN, LINE_HEIGHT, FONT_SIZE = 150, 40, 26
LINE_CHARS = 88
LINES = (SIZE[1] - 2 * MARGIN) // LINE_HEIGHT
MAX_TURN_DEGREES = 1.0
NOISE = 24
"""Standard deviation of the noise, of 255 shades, before it is mixed in at a tenth."""
FILES = ((1, "jpg"), (1, "png"), (2, "tif"), (4, "pdf"))
"""Pages and format of one file after another, over and over."""
ROOT = Path(__file__).parent.parent
_WORD = re.compile(r"\w{2,}")
_COUNTED = re.compile(r"Reading: ([\d,]+) ")


@dataclass(frozen=True, slots=True)
class Run:
    """A build from outside: what it printed, its exit code, the files that its progress counted.

    `processor` are the seconds of all its processes, `memory` the most that they held together.
    """

    said: dict[str, Any]
    code: int
    progress: int
    seconds: float
    processor: float
    memory: Memory


def main() -> int:
    """Print the tables; 1 if what was read is lost, or another index comes of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument("--compare", action="store_true", help="build once more, without a stop")
    chosen = parser.parse_args()
    print(f"{machine()}, load {os.getloadavg()[0]:.1f}\n", flush=True)
    with tempfile.TemporaryDirectory() as work:
        scans = Path(work) / "scans"
        scans.mkdir()
        expected = make_scans(scans, chosen.pages)
        source = f'type = "folder"\npath = "{scans}"\nocr = true'
        project = make_project(Path(work) / "project", source)
        row("build", "exit code", "s", "files kept before", "read", "kept after", "load")
        row(*["---"] * 7)
        known, is_kept = 0, True
        runs: list[Run] = []
        for name, stop in (("SIGINT", signal.SIGINT), ("SIGKILL", signal.SIGKILL), ("whole", None)):
            run = _run(project, chosen.jobs, stop, known + len(expected) // 3)
            read = run.said["changes"]["read"] if run.said else run.progress - known
            kept, load = _count_kept(project), f"{os.getloadavg()[0]:.1f}"
            row(name, run.code, f"{run.seconds:.0f}", known, read, kept, load)
            is_kept = is_kept and kept >= known + read
            known, runs = kept, [*runs, run]
        recall = _recall(Path(run.said["index"]), expected)
        seconds = sum(each.seconds for each in runs)
        share = sum(each.processor for each in runs) / chosen.pages
        print()
        row("pages", "files", "workers", "pages a minute", "processor s a page", "recall", "MB")
        row(*["---"] * 7)
        speed, held = 60 * chosen.pages / seconds, max(each.memory.held for each in runs)
        figures = f"{speed:.1f}", f"{share:.1f}", f"{recall:.3f}", f"{held:.0f}"
        row(chosen.pages, len(expected), chosen.jobs, *figures)
        print(f"\nWhat was read is {'not ' if is_kept else ''}read again.", flush=True)
        if chosen.compare:
            whole = _run(make_project(Path(work) / "whole", source), chosen.jobs)
            is_kept = is_kept and whole.said["version"] == run.said["version"]
            print(f"Without a stop: {whole.seconds:.0f} s, {whole.said['version']}")
            print(f"With the stops: {run.said['version']}")
    return 0 if is_kept else 1


def make_scans(folder: Path, pages: int) -> dict[str, set[str]]:
    """Write so many pages as files; return the words of each file."""
    texts = _pages(pages)
    expected: dict[str, set[str]] = {}
    number = 0
    while number < pages:
        for count, kind in FILES:
            mine = texts[number : number + count]
            if not mine:
                break
            first, *more = [_draw(lines, number + n) for n, lines in enumerate(mine)]
            name = f"scan-{number + 1:04}.{kind}"
            options: dict[str, Any] = {"quality": 60} if kind in {"jpg", "pdf"} else {}
            if more:
                options |= {"save_all": True, "append_images": more}
            first.save(folder / name, resolution=200.0, **options)
            expected[name] = {
                word for lines in mine for word in _WORD.findall(" ".join(lines).casefold())
            }
            number += len(mine)
    return expected


def _pages(count: int) -> list[list[str]]:
    """Return the lines of so many pages; the text begins again where it ends too early."""
    files = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    lines = [part for line in text.split("\n") for part in textwrap.wrap(line, LINE_CHARS)]
    pages = []
    for number in range(count):
        start = number * (LINES - 1) % len(lines)
        shown = (lines[start:] + lines)[: LINES - 1]
        # So that no page is a copy of another.
        pages.append([f"Page {number + 1} of {count}", *shown])
    return pages


def _draw(lines: Sequence[str], seed: int) -> Image.Image:
    page = Image.new("L", SIZE, "white")
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(size=FONT_SIZE)
    for place, line in enumerate(lines):
        pen.text((MARGIN, MARGIN + place * LINE_HEIGHT), line, fill=40, font=font)
    angle = random.Random(seed).uniform(-MAX_TURN_DEGREES, MAX_TURN_DEGREES)
    turned = page.rotate(angle, Image.Resampling.BICUBIC, fillcolor="white")
    return Image.blend(turned, Image.effect_noise(SIZE, NOISE), 0.1)


def _run(project: Path, jobs: int, stop: signal.Signals | None = None, after: int = 0) -> Run:
    """Build in a process of its own; with a signal, stop it when so many files are read."""
    command = [sys.executable, "-m", "foundry", "build", str(project), "--json"]
    begun, before = time.perf_counter(), os.times()
    progress = 0
    with subprocess.Popen(
        [*command, "--jobs", str(jobs)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout and process.stderr
        with MemoryWatch(process.pid) as watch:
            for line in process.stderr:
                if counted := _COUNTED.match(line):
                    progress = int(counted[1].replace(",", ""))
                if stop and progress >= after:
                    process.send_signal(stop)
                    stop = None
            output = process.stdout.read()
            process.wait()
    seconds, used = time.perf_counter() - begun, os.times()
    processor = used.children_user + used.children_system
    processor -= before.children_user + before.children_system
    said = json.loads(output) if output.strip() else {}
    return Run(said, process.returncode, progress, seconds, processor, watch.most)


def _count_kept(project: Path) -> int:
    """Return how many documents are in the cache of a build that has ended."""
    with closing(DocumentCache(project / ".foundry" / CACHE_NAME)) as cache:
        return len(cache.others([]))


def _recall(index: Path, expected: Mapping[str, set[str]]) -> float:
    """Return the mean share of the words of a file that were read."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in (index / "chunks.jsonl").read_text(encoding="utf-8").splitlines():
        chunk = json.loads(line)
        found[chunk["path"]].update(_WORD.findall(chunk["text"].casefold()))
    shares = [len(words & found[name]) / len(words) for name, words in expected.items()]
    return statistics.mean(shares)


if __name__ == "__main__":
    sys.exit(main())
