"""How long does a Word file take, and what is lost? `python benchmarks/word_files.py FOLDER`.

Every .docx below FOLDER is read by Foundry and by each peer that is installed (mammoth as Foundry
used it until 0.1, markitdown, pandoc): milliseconds of the processor a file, the least of three
runs, and words of the files that are in no text. Comments, deleted and hidden words count as lost
by a peer that drops them, since it does not say so.
"""

import argparse
import importlib
import importlib.util
import io
import resource
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from common import machine, row

from foundry.readers.accounting.office import word_texts
from foundry.readers.accounting.words import account
from foundry.readers.formats.word import reader as word
from foundry.readers.notes import taking_notes

Read = Callable[[bytes], str]


def peers() -> Iterator[tuple[str, Read]]:
    """Yield Foundry and what else is installed, each as a function from bytes to text."""
    yield "foundry", lambda content: word.read(content).text
    if importlib.util.find_spec("mammoth"):
        mammoth = importlib.import_module("mammoth")
        yield "mammoth", lambda content: mammoth.extract_raw_text(io.BytesIO(content)).value
    if importlib.util.find_spec("markitdown"):
        converter = importlib.import_module("markitdown").MarkItDown()
        yield "markitdown", lambda content: converter.convert_stream(
            io.BytesIO(content), file_extension=".docx"
        ).text_content
    if pandoc := shutil.which("pandoc"):
        yield "pandoc", lambda content: subprocess.run(
            [pandoc, "--sandbox", "-f", "docx", "-t", "plain", "--wrap=none"],
            input=content,
            capture_output=True,
            check=True,
        ).stdout.decode()


def seconds() -> float:
    """Return the processor's time of this process and of those that it has run."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def measure(read: Read, files: list[bytes]) -> tuple[float, int, int]:
    """Return milliseconds a file, words of all files, and those in no text and told by nobody."""
    total = 0.0
    words = lost = 0
    for content in files:
        times = []
        for _ in range(3):
            begun = seconds()
            with taking_notes() as notes:
                text = read(content)
            times.append(seconds() - begun)
        counts, _ = account(word_texts(content), [text], notes.left_out)
        total += min(times)
        words += counts.source
        lost += counts.unaccounted
    return 1000 * total / len(files), words, lost


def main() -> None:
    """Print a row for each reader."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    files = [path.read_bytes() for path in sorted(parser.parse_args().folder.rglob("*.docx"))]
    print(machine())
    row("reader", "ms a file", "words", "unaccounted")
    row("---", "---", "---", "---")
    for name, read in peers():
        milliseconds, words, lost = measure(read, files)
        row(name, f"{milliseconds:.1f}", f"{words:,}", f"{lost:,}")


if __name__ == "__main__":
    main()
