"""Documents whose text the corpus has already: of each group, the one with the best path stays.

Two documents are copies when title and text are the same words in the same order and case; a title
that only repeats the file's name or the id does not count. With `near`, they may also differ in a
few words (see `near`). A path whose name says that it is a copy loses; then the source that comes
first wins, then the path with fewer parts, the shorter one, and the first by name.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Literal

from foundry.build.deduplication.near import find_near_copies
from foundry.build.deduplication.signature import Signature
from foundry.records import Document

Mode = Literal["exact", "near", "keep"]

_COPY_NAME = re.compile(
    r"cop(?:y|ie|ia) (?:\(?\d+\)? )?(?:of|de) .+|kopie von .+"
    r"|.*[^\s._-](?:(?:[\s._-]+(?:copy|kopie|backup|bak|old|orig))+(?:[\s_-]*\(?\d+\)?)?|\s?\(\d+\)|~)",
    re.IGNORECASE | re.DOTALL,
)


def find_copies(
    signatures: Sequence[Signature | None], mode: Mode, read: Callable[[int], Document]
) -> dict[int, int]:
    """Return the numbers of all copies, each with the number of the document that stays.

    Documents are numbered by their places in `signatures`; None stands for what is left out
    anyway. `read` gives a document by its number; only `near` has to see some of them again.
    """
    if mode == "keep":
        return {}
    kept: dict[bytes, int] = {}
    copies = {}
    for number in _by_preference(signatures):
        signature = signatures[number]
        assert signature is not None
        first = kept.setdefault(signature.text, number)
        if first != number:
            copies[number] = first
    if mode == "exact":
        return dict(sorted(copies.items()))
    near = dict(_find_near(signatures, [*kept.values()], read))
    resolved = {number: near.get(first, first) for number, first in copies.items()}
    return dict(sorted((near | resolved).items()))


def _by_preference(signatures: Sequence[Signature | None]) -> list[int]:
    """Return the numbers of the documents, those first that stay rather than others."""
    sources: dict[str, int] = {}
    keys = {}
    for number, signature in enumerate(signatures):
        if signature is not None:
            place = sources.setdefault(signature.source, len(sources))
            path = signature.path
            keys[number] = (is_copy_name(path), place, path.count("/"), len(path), path, number)
    return sorted(keys, key=keys.__getitem__)


def is_copy_name(path: str) -> bool:
    """Return whether a file's name says that it is a copy of another, or an old state of it.

    `copy of x.md`, `x (1).md`, `x copy.md`, `x.md.bak`, `x-old.md` and `x.md~` do.
    """
    name = PurePosixPath(path)
    return any(_COPY_NAME.fullmatch(text) for text in (name.name, name.stem))


def _find_near(
    signatures: Sequence[Signature | None], kept: Sequence[int], read: Callable[[int], Document]
) -> Iterator[tuple[int, int]]:
    groups: dict[bytes, list[int]] = {}
    for number in kept:
        signature = signatures[number]
        if signature is not None:
            groups.setdefault(signature.facts, []).append(number)
    for group in groups.values():
        if len(group) > 1:
            yield from find_near_copies(group, read)
