"""Shows the words of the sources that are not in the index, and why."""

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from foundry.config.project import Config
from foundry.config.sources import FolderSource, RecordsSource
from foundry.documents import Document, RawDocument, Skipped
from foundry.errors import FoundryError
from foundry.readers.sandbox.processes import Sandbox
from foundry.readers.sandbox.reading import read_apart
from foundry.sources import folder, records
from foundry.terminal import count_of, printable

MAX_SHOWN_CHARS = 2_000
"""How many characters of a text are shown; JSON has all of them."""


def find_left_out(config: Config, index: Path, pattern: str) -> Iterator[dict[str, Any]]:
    """Yield each document whose text lacks words of its file, with those words.

    `pattern` is a path, in which `*` also matches slashes. Documents of folders and tables are read
    again. Documents of websites and git repositories, and those that can no longer be read, follow
    with their counts only. Raises FoundryError if no matching document lacks words, unless
    `pattern` is "*".
    """
    report = json.loads((index / "report.json").read_bytes())
    entries = {
        (entry["source"], entry["path"]): entry
        for entry in report["words"]["documents"]
        if fnmatchcase(entry["path"], pattern)
    }
    if not entries and pattern != "*":
        hint = "foundry inspect --documents lists all documents"
        raise FoundryError(f"{pattern}: no document that matches has words left out", hint=hint)
    shown: set[tuple[str, str]] = set()
    with Sandbox() as sandbox:
        for source in config.sources:
            for raw in _deliver(source):
                place = source.name, raw.path
                if place not in entries or place in shown:
                    continue
                document = read_apart(raw, sandbox)
                if isinstance(document, Document):
                    shown.add(place)
                    yield _describe(entries[place], document)
    yield from (entry for place, entry in entries.items() if place not in shown)


def _deliver(source: object) -> Iterator[RawDocument]:
    """Yield the documents of a source that is on this machine."""
    found: Iterator[RawDocument | Skipped] = iter(())
    if isinstance(source, FolderSource):
        files = (each for each in folder.look(source) if isinstance(each, folder.Found))
        found = (folder.read_file(source, each.key) for each in files)
    elif isinstance(source, RecordsSource):
        rows = (document for document, _ in records.look(source, lambda _: None))
        found = (each for each in rows if isinstance(each, RawDocument))
    yield from (each for each in found if isinstance(each, RawDocument))


def _describe(entry: Mapping[str, Any], document: Document) -> dict[str, Any]:
    reading = document.reading
    left_out = [
        {"reason": each.reason, "place": each.place, "text": each.text} for each in reading.left_out
    ]
    return {**entry, "left_out": left_out, "unaccounted": list(reading.unaccounted)}


def show_left_out(documents: Iterator[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the results of `find_left_out` as lines for people."""
    for entry in documents:
        words = entry["words"]
        left_out, lost = sum(words["left_out"].values()), words["unaccounted"]
        yield (
            f"{entry['source']}: {printable(entry['path'])}: {count_of(words['source'], 'word')},"
            f" {left_out:,} left out, {lost:,} unaccounted"
        )
        if "unaccounted" not in entry:
            yield "  not read again: only the counts are known"
            continue
        for each in entry["left_out"]:
            place = f" ({each['place']})" if each["place"] else ""
            yield f"  {each['reason']}{place}: {_on_one_line(each['text'])}"
        if entry["unaccounted"]:
            yield f"  unaccounted: {_on_one_line(' '.join(entry['unaccounted']))}"


def _on_one_line(text: str) -> str:
    line = " ".join(text.split())
    cut = line if len(line) <= MAX_SHOWN_CHARS else f"{line[:MAX_SHOWN_CHARS]} …"
    return printable(cut)
