"""What a page of a PDF costs to read: `python benchmarks/pdf.py FOLDER ...`.

Every PDF of the folders is read by us, by PDFium for its text alone, and by those peers that are
installed (`pip install pdfplumber 'markitdown[pdf]'`, and pdftotext of poppler-utils), in turns.
With `--before`, Foundry of another checkout reads them as well, by the same libraries.
Files that one of them cannot read, or that have no text, are left out. Milliseconds are of
processor, the least of the runs for each file; `to ours` compares them in the same run.
"""

import argparse
import importlib
import logging
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pypdfium2
from common import machine

import foundry

RUNS = 3
_READ = """
import sys, time
from pathlib import Path
from foundry.readers.formats.pdf.reader import read
for line in sys.stdin:
    begun = time.process_time()
    read(Path(line.strip()).read_bytes())
    print(time.process_time() - begun, flush=True)
"""

Reader = Callable[[Path], float]
"""Returns the seconds of processor that it took to read a file."""


def main() -> int:
    """Print a row for each reader."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--before", type=Path, metavar="CHECKOUT")
    chosen = parser.parse_args()
    logging.disable()
    readers = dict(_readers(chosen.before))
    files = sorted(file for folder in chosen.folders for file in folder.rglob("*.pdf"))
    pages, milliseconds = 0, dict.fromkeys(readers, 0.0)
    for file in files:
        least = dict.fromkeys(readers, float("inf"))
        try:
            for _ in range(chosen.runs):
                for name, reader in readers.items():
                    least[name] = min(least[name], reader(file))
        except Exception as error:
            print(f"{file.name}: left out: {type(error).__name__}", file=sys.stderr)
            continue
        pages += len(pypdfium2.PdfDocument(file))
        for name, seconds in least.items():
            milliseconds[name] += 1000 * seconds
    print(machine())
    print(f"\n{pages} pages\n\n| reader | ms a page | to ours |\n|---|---|---|")
    for name, spent in milliseconds.items():
        print(f"| {name} | {spent / pages:.2f} | {spent / milliseconds['ours']:.2f} |")
    return 0


def _readers(before: Path | None) -> Iterator[tuple[str, Reader]]:
    yield "ours", _ours(Path(foundry.__file__).parents[1])
    if before:
        yield f"ours, {before.name}", _ours(before)
    yield "PDFium, text alone", _timed(_pdfium)
    if shutil.which("pdftotext"):
        yield "pdftotext", _timed(_pdftotext)
    if find_spec("markitdown"):
        yield "markitdown", _timed(importlib.import_module("markitdown").MarkItDown().convert)
    if find_spec("pdfplumber"):
        yield "pdfplumber, text and tables", _timed(_pdfplumber)


def _timed(reader: Callable[[Path], object]) -> Reader:
    def read_timed(file: Path) -> float:
        begun = _seconds()
        reader(file)
        return _seconds() - begun

    return read_timed


def _seconds() -> float:
    """Return the processor time of this process and of those that it has run."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def _ours(checkout: Path) -> Reader:
    """Return a reader that is a process of its own, which ends where it cannot read a file."""
    process: subprocess.Popen[str] | None = None

    def read_apart(file: Path) -> float:
        nonlocal process
        if process is None or process.poll() is not None:
            process = subprocess.Popen(
                [sys.executable, "-c", _READ],
                cwd=checkout,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert process.stdin and process.stdout
        print(file.resolve(), file=process.stdin, flush=True)
        answer = process.stdout.readline()
        if not answer:
            process = None
        return float(answer)

    return read_apart


def _pdfium(file: Path) -> None:
    document = pypdfium2.PdfDocument(file)
    for page in document:
        page.get_textpage().get_text_range()
        page.close()


def _pdftotext(file: Path) -> None:
    subprocess.run(["pdftotext", "-layout", file, "-"], capture_output=True, check=True)


def _pdfplumber(file: Path) -> None:
    with importlib.import_module("pdfplumber").open(file) as document:
        for page in document.pages:
            page.extract_text()
            page.extract_tables()
            page.close()


if __name__ == "__main__":
    sys.exit(main())
