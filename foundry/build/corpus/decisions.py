"""Decide what of a corpus goes into its index: no repeated ids, no copies, no boilerplate."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from foundry.build.corpus.boilerplate import find_boilerplate
from foundry.build.corpus.copies import find_copies
from foundry.build.documents.signature import Signature
from foundry.config.file import BuildSection
from foundry.records import Document


@dataclass(frozen=True, slots=True)
class Decisions:
    """What is decided about documents, by their numbers in the sources' order.

    Attributes:
        repeated: Documents whose id an earlier one has.
        originals: The document that stands for each copy.
        copies: The copies that a document stands for, ascending.
        boilerplate: The keys of the blocks that are to be cut off the chunks of a document.
    """

    repeated: frozenset[int]
    originals: Mapping[int, int]
    copies: Mapping[int, Sequence[int]]
    boilerplate: Mapping[int, set[int]]


def decide(
    signatures: Sequence[Signature | None], options: BuildSection, read: Callable[[int], Document]
) -> Decisions:
    """Decide by the signatures of all documents, None for those that are skipped.

    `read` gives a document by its number; few have to be seen again.
    """
    own: dict[int, Signature] = {}
    first: dict[bytes, int] = {}
    for number, signature in enumerate(signatures):
        if signature is not None and first.setdefault(signature.id, number) == number:
            own[number] = signature
    repeated = {number for number, found in enumerate(signatures) if found is not None} - own.keys()
    originals = find_copies([own.get(n) for n in range(len(signatures))], options.duplicates, read)
    copies: dict[int, list[int]] = {}
    for number, original in originals.items():
        copies.setdefault(original, []).append(number)
    boilerplate: dict[int, set[int]] = {}
    if options.boilerplate == "drop":
        boilerplate = find_boilerplate({n: own[n] for n in own if n not in originals})
    return Decisions(frozenset(repeated), originals, copies, boilerplate)
