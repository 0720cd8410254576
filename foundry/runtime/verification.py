"""Checks a server: its files by their hashes, and that its index finds what it must know."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from .index.reader import Index
from .retrieval.results import MAX_TOP_K, SearchResponse

PACKAGE = Path(__file__).parent

CHECKSUMS = "SHA256SUMS"
"""Lists the files of an export, as sha256sum writes it; beside the package."""


def verify(search: Callable[..., SearchResponse], index: Index) -> list[str]:
    """Return a line for each file that is damaged and each known query that is not answered."""
    changed = find_changed(PACKAGE.parent)
    # A damaged index is asked nothing.
    return [*changed, *(index.verify() or _find_lost(search, index))]


def find_changed(folder: Path) -> Iterator[str]:
    """Yield a line for each file of an export that is not as SHA256SUMS says, if there is one.

    Files of the index are left out: its manifest has their hashes, and INDEX_DIR may name another.
    """
    try:
        lines = (folder / CHECKSUMS).read_bytes().decode("utf-8", "surrogateescape").split("\n")
    except FileNotFoundError:
        # An installed package, or one in a container, is there without its list.
        return
    except OSError as error:
        yield f"{CHECKSUMS}: unreadable: {error.strerror}"
        return
    for number, line in enumerate(filter(None, lines), start=1):
        digest, separator, name = line.partition("  ")
        if len(digest) != 64 or not separator:
            yield f"{CHECKSUMS}: line {number} is malformed"
        elif not name.startswith(f"{PACKAGE.name}/data/"):
            try:
                with (folder / name).open("rb") as file:
                    found = hashlib.file_digest(file, "sha256").hexdigest()
            except (OSError, ValueError):
                yield f"{name}: cannot be read"
                continue
            if found != digest:
                yield f"{name}: changed since {CHECKSUMS} was written"


def _find_lost(search: Callable[..., SearchResponse], index: Index) -> Iterator[str]:
    for item in index.manifest.known_items:
        # As many as there can be: stages may rank a known item behind newer or nearer ones.
        chunk = index.find_chunk(item.chunk_id)
        if not chunk or not search(item.query, MAX_TOP_K, mode="keyword").covers(chunk):
            yield f"the query {item.query!r} does not find {item.chunk_id}"
