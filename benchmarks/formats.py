"""Measures the time for reading files: `python benchmarks/formats.py pdf FOLDER ...`, or `docx`.

Every file of the kind in the folders is read by Foundry and by the installed peers, in turn. For
PDF, these are PDFium (only text), pdfplumber and markitdown (`pip install pdfplumber
'markitdown[pdf,docx]'`), and pdftotext of poppler-utils; for Word, markitdown and pandoc. With
`--before`, Foundry from another checkout reads them too, with the same libraries.

Files that one of them cannot read, or that have no text, are omitted. Milliseconds are processor
time, the smallest of the runs for each file; `to ours` is the ratio in the same run. The time of
programs includes their start.
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
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
name = f"foundry.readers.formats.{sys.argv[1]}"
is_package = find_spec(name).submodule_search_locations
read = import_module(f"{name}.reader" if is_package else name).read
for line in sys.stdin:
    begun = time.process_time()
    read(Path(line.strip()).read_bytes())
    print(time.process_time() - begun, flush=True)
"""

Reader = Callable[[Path], float]
"""Returns the processor time, in seconds, of reading a file."""


def main() -> int:
    """Print a row for each reader."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("format", choices=("pdf", "docx"))
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--before", type=Path, metavar="CHECKOUT")
    chosen = parser.parse_args()
    logging.disable()
    readers = dict(_readers(chosen.format, chosen.before))
    pattern = f"*.{chosen.format}"
    files = sorted(file for folder in chosen.folders for file in folder.rglob(pattern))
    count, milliseconds = 0, dict.fromkeys(readers, 0.0)
    for file in files:
        least = dict.fromkeys(readers, float("inf"))
        try:
            for _ in range(chosen.runs):
                for name, reader in readers.items():
                    least[name] = min(least[name], reader(file))
        except Exception as error:
            print(f"{file.name}: left out: {type(error).__name__}", file=sys.stderr)
            continue
        count += len(pypdfium2.PdfDocument(file)) if chosen.format == "pdf" else 1
        for name, seconds in least.items():
            milliseconds[name] += 1000 * seconds
    if not count:
        parser.error("every file was left out")
    unit = "page" if chosen.format == "pdf" else "file"
    print(machine())
    print(f"\n{count} {unit}s\n\n| reader | ms a {unit} | to ours |\n|---|---|---|")
    for name, spent in milliseconds.items():
        print(f"| {name} | {spent / count:.2f} | {spent / milliseconds['ours']:.2f} |")
    return 0


def _readers(kind: str, before: Path | None) -> Iterator[tuple[str, Reader]]:
    name = "pdf" if kind == "pdf" else "word"
    yield "ours", _ours(Path(foundry.__file__).parents[1], name)
    if before:
        yield f"ours, {before.name}", _ours(before, name)
    if find_spec("markitdown"):
        yield "markitdown", _timed(importlib.import_module("markitdown").MarkItDown().convert)
    if kind == "pdf":
        yield "PDFium, text alone", _timed(_pdfium)
        if find_spec("pdfplumber"):
            yield "pdfplumber, text and tables", _timed(_pdfplumber)
    program = ["pdftotext", "-layout"] if kind == "pdf" else ["pandoc", "--to=markdown"]
    if shutil.which(program[0]):
        yield program[0], _timed(lambda file: _run([*program, str(file)], kind))


def _timed(reader: Callable[[Path], object]) -> Reader:
    def read_timed(file: Path) -> float:
        begun = _seconds()
        reader(file)
        return _seconds() - begun

    return read_timed


def _seconds() -> float:
    """Return the processor time of this process and of its child processes so far."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def _ours(checkout: Path, name: str) -> Reader:
    """Return a reader that runs in a separate process, which ends if it cannot read a file."""
    process: subprocess.Popen[str] | None = None

    def read_apart(file: Path) -> float:
        nonlocal process
        if process is None or process.poll() is not None:
            process = subprocess.Popen(
                [sys.executable, "-c", _READ, name],
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


def _run(command: list[str], kind: str) -> None:
    to_output = ["-"] if kind == "pdf" else []
    subprocess.run([*command, *to_output], capture_output=True, check=True)


def _pdfplumber(file: Path) -> None:
    with importlib.import_module("pdfplumber").open(file) as document:
        for page in document.pages:
            page.extract_text()
            page.extract_tables()
            page.close()


if __name__ == "__main__":
    sys.exit(main())
