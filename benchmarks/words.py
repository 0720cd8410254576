"""Finds words of documents that no text contains: `python benchmarks/words.py FOLDER ...`.

Each FOLDER is read like a build reads it; a corpus.jsonl in it is read as a table. With
`--collections`, every subfolder is read. The rows, worst first, have: documents; words of their
containers; the shares that are read, left out for a reason, and unaccounted; and, for formats that
show this (see `places.py`), words read under another heading than in the document, and cells in
another column.

`--worst N` lists the N documents that lost the most words, with these words. `--kinds` has a row
for each suffix. `--cost` prints, by suffix, how much of the reading time the accounting takes.
`--save` writes all counts as JSON, and `--before` compares with such a file.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from common import machine, make_project, row
from places import compare

from foundry.config.project import load_config
from foundry.config.sources import FolderSource, RecordsSource
from foundry.documents import Document, RawDocument
from foundry.readers import read
from foundry.readers.accounting.words import account
from foundry.readers.contract import FileReader
from foundry.readers.decoding import decode
from foundry.readers.registry import choose, find_by_kind
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import read_apart
from foundry.sources import folder, records

SHOWN_WORDS = 12


@dataclass
class Sums:
    """The counts of one collection, or of one suffix in it."""

    documents: int = 0
    source: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    unaccounted: int = 0
    misplaced: int = 0
    of_words: int = 0
    cells: int = 0
    of_cells: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    worst: list[tuple[int, int, str, tuple[str, ...]]] = field(default_factory=list)

    def add(self, raw: RawDocument, document: Document) -> None:
        """Add the words of a document."""
        reading = document.reading
        if reading.words is None:
            raise ValueError(f"{raw.path}: its words were not counted")
        self.documents += 1
        self.source += reading.words.source
        self.left_out.update(reading.words.left_out)
        self.unaccounted += reading.words.unaccounted
        place = compare(raw.path, raw.content, reading, document.title)
        self.misplaced += place.words
        self.of_words += place.of_words
        self.cells += place.cells
        self.of_cells += place.of_cells
        if reading.words.unaccounted:
            lost = reading.words.unaccounted, reading.words.source
            self.worst.append((*lost, raw.path, reading.unaccounted))

    @property
    def share(self) -> float:
        """The share of the words that is unaccounted."""
        return self.unaccounted / max(self.source, 1)

    def cells_of_table(self, name: str) -> list[str]:
        """Return the row of a table."""
        left_out = self.left_out.total()
        read = self.source - left_out - self.unaccounted
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in self.left_out.most_common(4))
        skipped = ", ".join(f"{reason} {n:,}" for reason, n in self.skipped.most_common(3))
        return [
            name,
            f"{self.documents:,}",
            f"{self.source:,}",
            _percent(read, self.source),
            f"{_percent(left_out, self.source)}{f' ({reasons})' if reasons else ''}",
            f"{self.unaccounted:,}",
            f"{100 * self.share:.3f} %",
            f"{self.misplaced:,} of {self.of_words:,}" if self.of_words else "",
            f"{self.cells:,} of {self.of_cells:,}" if self.of_cells else "",
            skipped,
        ]


HEADER = [
    "collection",
    "documents",
    "words",
    "read",
    "left out",
    "unaccounted",
    "share",
    "below another heading",
    "in another column",
    "not read",
]


def _percent(count: int, of: int) -> str:
    return f"{100 * count / max(of, 1):.2f} %"


def deliver(root: Path) -> Iterator[RawDocument | str]:
    """Yield the documents of a folder, and the reasons why other files are left out."""
    table = root / "corpus.jsonl"
    with tempfile.TemporaryDirectory() as work:
        if table.exists():
            source = f'type = "records"\npath = {json.dumps(str(table))}\nid = "_id"'
        else:
            source = f'type = "folder"\npath = {json.dumps(str(root))}'
        chosen = load_config(make_project(Path(work), source)).sources[0]
    if isinstance(chosen, RecordsSource):
        found: Iterator[Any] = (each for each, _ in records.look(chosen, lambda _: None))
    elif isinstance(chosen, FolderSource):
        found = (
            folder.read_file(chosen, each.key) if isinstance(each, folder.Found) else each
            for each in folder.look(chosen)
        )
    for each in found:
        yield each if isinstance(each, RawDocument) else str(each.reason)


def measure(root: Path, sandbox: Sandbox) -> tuple[Sums, dict[str, Sums]]:
    """Read a folder; returns the counts of all documents, and of each suffix."""
    total, kinds = Sums(), defaultdict[str, Sums](Sums)
    for raw in deliver(root):
        if isinstance(raw, str):
            total.skipped[raw] += 1
            continue
        kind = kinds[PurePosixPath(raw.path).suffix.lower()]
        begun = time.perf_counter()
        document = read_apart(raw, sandbox)
        total.seconds += time.perf_counter() - begun
        for sums in (total, kind):
            if isinstance(document, Document):
                sums.add(raw, document)
            else:
                sums.skipped[str(document.reason)] += 1
    return total, dict(kinds)


def show_cost(root: Path) -> None:
    """Print the time that accounting adds to reading, by suffix: the smallest of five for both."""
    reading, accounting = defaultdict[str, float](float), defaultdict[str, float](float)
    for raw in deliver(root):
        if isinstance(raw, str):
            continue
        reader, _ = find_by_kind(raw) or choose(raw)
        text = "" if isinstance(reader, FileReader) else decode(raw.content, raw.charset)[0]
        times = []
        for _ in range(5):
            begun = time.process_time()
            document = read(raw, is_worker=True)
            read_at = time.process_time()
            if not isinstance(document, Document) or reader.texts is None:
                break
            found = document.reading
            if isinstance(reader, FileReader):
                source = [*reader.texts(raw.content)]
            else:
                source = [*reader.texts(text)]
            account(source, [found.text[found.body_start :]], found.left_out)
            times.append((read_at - begun, time.process_time() - read_at))
        ending = PurePosixPath(raw.path).suffix.lower()
        if times:
            whole, added = (min(each) for each in zip(*times, strict=True))
            reading[ending] += whole - added
            accounting[ending] += added
    row("ending", "reading, s", "accounting, s", "added")
    row(*["---"] * 4)
    for ending, seconds in sorted(reading.items()):
        added = accounting[ending]
        row(ending, f"{seconds:.3f}", f"{added:.3f}", f"{100 * added / max(seconds, 1e-9):.0f} %")


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    parser.add_argument("--collections", type=Path, metavar="DATA", help="a folder of folders")
    parser.add_argument("--worst", type=int, default=3, help="documents to list (3)")
    parser.add_argument("--kinds", action="store_true", help="also a row for each ending of names")
    parser.add_argument("--cost", action="store_true", help="what accounting adds to reading")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the counts as JSON")
    parser.add_argument("--before", type=Path, metavar="FILE", help="counts to compare with")
    chosen = parser.parse_args()
    below = sorted(chosen.collections.iterdir()) if chosen.collections else []
    roots = [*chosen.folders, *(each for each in below if each.is_dir())]
    if not roots:
        parser.error("name a folder, or --collections")
    if chosen.cost:
        for root in roots:
            print(f"\n{root.name}\n")
            show_cost(root.resolve())
        return 0
    before = json.loads(chosen.before.read_bytes()) if chosen.before else {}
    print(machine(), "\n")
    measured, by_kind = {}, defaultdict[str, list[tuple[str, Sums]]](list)
    with Sandbox() as sandbox:
        for root in roots:
            measured[root.name], kinds = measure(root.resolve(), sandbox)
            print(f"{root.name}: {measured[root.name].seconds:.0f} s", file=sys.stderr)
            for kind, sums in kinds.items():
                by_kind[kind].append((root.name, sums))
    worst_first = sorted(measured.items(), key=lambda each: (-each[1].share, each[0]))
    row(*HEADER, *(["share before"] if before else []))
    row(*["---"] * (len(HEADER) + bool(before)))
    for name, sums in worst_first:
        earlier = before.get(name)
        then = _percent(earlier["unaccounted"], earlier["source"]) if earlier else ""
        row(*sums.cells_of_table(name), *([then] if before else []))
    if chosen.kinds:
        print()
        row(*HEADER)
        row(*["---"] * len(HEADER))
        for kind, pairs in sorted(by_kind.items()):
            for name, sums in pairs:
                row(*sums.cells_of_table(f"{kind or 'no ending'} in {name}"))
    for name, sums in worst_first:
        for lost, words, path, missing in sorted(sums.worst, reverse=True)[: chosen.worst]:
            shown = " ".join(missing[:SHOWN_WORDS])
            print(f"\n{name}/{path}: {lost:,} of {words:,}: {shown}")
    if chosen.save:
        counts = {
            name: {"source": sums.source, "unaccounted": sums.unaccounted}
            for name, sums in measured.items()
        }
        chosen.save.write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
