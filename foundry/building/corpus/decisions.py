"""Decides what depends on more than one document: repeated ids, copies and boilerplate."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from foundry.building.corpus.boilerplate import find_boilerplate
from foundry.building.corpus.copies import find_copies
from foundry.building.corpus.input_table import SKIPPED, InputTable, find_shared
from foundry.config.file import BuildSection
from foundry.documents import Document
from foundry.indexing.carried.numbers import InputNumber


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions about documents, by number in the order of the sources.

    `repeated` documents have the id of an earlier one. `originals` maps each copy to the document
    that is kept, `copies` maps each kept document to its copies, and `boilerplate` maps documents
    to the keys of the blocks to cut off their chunks.
    """

    repeated: frozenset[int]
    originals: Mapping[int, int]
    copies: Mapping[int, Sequence[int]]
    boilerplate: Mapping[int, set[int]]


def decide(
    table: InputTable,
    options: BuildSection,
    versions: Sequence[str],
    read: Callable[[int], Document | None],
) -> Decisions:
    """Decide from the signatures of all documents; `read` loads the few that are needed in full."""
    found = np.flatnonzero(table.sources != SKIPPED)
    first: dict[bytes, int] = {}
    shared = found[find_shared(table.ids[found])].tolist()
    ids = table.ids[shared].tolist()
    repeated = [n for n, each in zip(shared, ids, strict=True) if first.setdefault(each, n) != n]
    own = np.setdiff1d(found, repeated, assume_unique=True)
    texts = table.texts[own]
    originals = find_copies(
        own,
        texts,
        lambda number: table.signature(InputNumber(number)),
        options.duplicates,
        read,
        versions,
    )
    copies: dict[int, list[int]] = {}
    for number, original in originals.items():
        copies.setdefault(original, []).append(number)
    boilerplate: dict[int, set[int]] = {}
    if options.boilerplate == "drop":
        kept = np.setdiff1d(own, [*originals], assume_unique=True)
        for source in range(table.sources.max(initial=SKIPPED) + 1):
            members = kept[table.sources[kept] == source]
            boilerplate |= find_boilerplate(members, *table.blocks(members))
    return Decisions(frozenset(repeated), originals, copies, boilerplate)
