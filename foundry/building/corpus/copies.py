"""Finds documents with equal texts; of each group, the one with the best path is kept.

Two documents are copies if their titles and their texts have the same words in the same order and
case; a title that only repeats the file name or the id is ignored. With `near`, they may also
differ in a few words (`corpus.near_copies`), if the facts of their signatures agree.

Paths that are named like a copy come last. The others are ranked by source, then by number of
parts, by length, and alphabetically.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from foundry.building.corpus.input_table import find_shared
from foundry.building.corpus.near_copies import find_near_copies
from foundry.building.documents.signature import Signature
from foundry.documents import Document

Mode = Literal["exact", "near", "keep"]

_COPY_NAME = re.compile(
    r"cop(?:y|ie|ia) (?:\(?\d+\)? )?(?:of|de) .+|kopie von .+"
    r"|.*[^\s._-](?:(?:[\s._-]+(?:copy|kopie|backup|bak|old|orig))+(?:[\s_-]*\(?\d+\)?)?|\s?\(\d+\)|~)",
    re.IGNORECASE | re.DOTALL,
)


def find_copies(
    numbers: NDArray[np.int64],
    texts: NDArray[np.void],
    signature_of: Callable[[int], Signature | None],
    mode: Mode,
    read: Callable[[int], Document | None],
    versions: Sequence[str] = (),
) -> dict[int, int]:
    """Return the number of each copy, mapped to the number of the document that is kept.

    `numbers` (n,) are the documents with a signature, `texts` (n,) the hashes of their texts.
    `read` returns a document by number; only `near` needs it, for a few documents. Documents in
    different folders of `versions` are not copies.
    """
    if mode == "keep":
        return {}
    # Most texts are unique: sorting all documents would dominate the time.
    compared = numbers if mode == "near" else numbers[find_shared(texts)]
    signatures = {n: each for n in compared.tolist() if (each := signature_of(n)) is not None}
    version_of = partial(_version_of, sorted(versions, key=len, reverse=True))
    kept: dict[tuple[bytes, str], int] = {}
    copies = {}
    for number in _by_preference(signatures):
        signature = signatures[number]
        first = kept.setdefault((signature.text, version_of(signature.path)), number)
        if first != number:
            copies[number] = first
    if mode == "exact":
        return dict(sorted(copies.items()))
    near = dict(_find_near(signatures, [*kept.values()], read, version_of))
    resolved = {number: near.get(first, first) for number, first in copies.items()}
    return dict(sorted((near | resolved).items()))


def _by_preference(signatures: Mapping[int, Signature]) -> list[int]:
    """Return the document numbers, beginning with the document that is best to keep."""
    sources: dict[str, int] = {}
    keys = {}
    for number, signature in signatures.items():
        place = sources.setdefault(signature.source, len(sources))
        path = signature.path
        keys[number] = (is_copy_name(path), place, path.count("/"), len(path), path, number)
    return sorted(keys, key=keys.__getitem__)


def is_copy_name(path: str) -> bool:
    """Return whether a file is named like a copy or an old state of another.

    Examples: `copy of x.md`, `x (1).md`, `x copy.md`, `x.md.bak`, `x-old.md` and `x.md~`.
    """
    name = PurePosixPath(path)
    return any(_COPY_NAME.fullmatch(text) for text in (name.name, name.stem))


def _version_of(folders: Sequence[str], path: str) -> str:
    return next((each for each in folders if path.startswith(f"{each}/")), "")


def _find_near(
    signatures: Mapping[int, Signature],
    kept: Sequence[int],
    read: Callable[[int], Document | None],
    version_of: Callable[[str], str],
) -> Iterator[tuple[int, int]]:
    groups: dict[tuple[bytes, str], list[int]] = {}
    for number in kept:
        signature = signatures[number]
        groups.setdefault((signature.facts, version_of(signature.path)), []).append(number)
    for group in groups.values():
        if len(group) > 1:
            yield from find_near_copies(group, read)
