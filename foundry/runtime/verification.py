"""Checks a server: its files against their hashes, and that it answers what it must know."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from .index.reader import Index
from .retrieval.results import MAX_TOP_K, SearchResponse

PACKAGE = Path(__file__).parent

CHECKSUMS = "SHA256SUMS"
"""Lists the files of an export as sha256sum does; beside the package."""


def verify(search: Callable[..., SearchResponse], index: Index) -> list[str]:
    """Return a line for each file that is changed and each known query that is not answered.

    A damaged index is asked nothing.
    """
    damaged = index.verify()
    lost = []
    for item in () if damaged else index.manifest.known_items:
        # As many hits as there can be: stages may rank a known item behind newer or nearer ones.
        chunk = index.find_chunk(item.chunk_id)
        if not chunk or not search(item.query, MAX_TOP_K, mode="keyword").covers(chunk):
            lost.append(f"the query {item.query!r} does not find {item.chunk_id}")
    return [*find_changed(PACKAGE.parent), *damaged, *lost]


def find_changed(folder: Path) -> Iterator[str]:
    """Yield a line for each file of an export that SHA256SUMS, if there is one, does not confirm.

    Files of the index are left out: its manifest has their hashes, and INDEX_DIR may name another.
    """
    try:
        lines = (folder / CHECKSUMS).read_bytes().decode("utf-8", "surrogateescape").split("\n")
    except FileNotFoundError:
        # An installed package, or one in a container, comes without the list.
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
                found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
            except (OSError, ValueError):
                yield f"{name}: cannot be read"
                continue
            if found != digest:
                yield f"{name}: changed since {CHECKSUMS} was written"
