"""Documents whose text the corpus has already: of each group, the first one stays.

Two documents are copies when title and text are the same words in the same order and case; a title
that only repeats the file's name or the id does not count. With `near`, they may also differ in a
few words (see `near`).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from foundry.deduplication.near import find_near_copies
from foundry.deduplication.signature import Signature
from foundry.records import Document

Mode = Literal["exact", "near", "keep"]


def find_copies(
    signatures: Sequence[Signature | None], mode: Mode, read: Callable[[int], Document]
) -> dict[int, int]:
    """The numbers of all copies, each with the number of the document that stays.

    Documents are numbered by their places in `signatures`; None stands for what is left out
    anyway. `read` gives a document by its number; only `near` has to see some of them again.
    """
    if mode == "keep":
        return {}
    kept: dict[bytes, int] = {}
    copies = {}
    for number, signature in enumerate(signatures):
        if signature is not None:
            first = kept.setdefault(signature.text, number)
            if first != number:
                copies[number] = first
    if mode == "exact":
        return copies
    near = dict(_find_near(signatures, sorted(kept.values()), read))
    resolved = {number: near.get(first, first) for number, first in copies.items()}
    return dict(sorted((near | resolved).items()))


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
