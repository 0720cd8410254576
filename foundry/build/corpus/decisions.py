"""Decide what of a corpus goes into its index: no repeated ids, no copies, no boilerplate."""

from collections.abc import Callable, Sequence

from foundry.build.corpus.boilerplate import Boilerplate
from foundry.build.corpus.copies import find_copies
from foundry.build.documents.signature import Signature
from foundry.config.file import BuildSection
from foundry.records import Document


class Decisions:
    """What is decided about each document, by its number in the sources' order."""

    def __init__(
        self,
        signatures: Sequence[Signature | None],
        options: BuildSection,
        read: Callable[[int], Document],
    ) -> None:
        """Decide by the signatures of all documents, None for those that are skipped.

        `read` gives a document by its number; few have to be seen again.
        """
        own = _without_repeated_ids(signatures)
        self._signatures = own
        self._originals = find_copies(own, options.duplicates, read)
        self._copies: dict[int, list[int]] = {}
        for number, original in self._originals.items():
            self._copies.setdefault(original, []).append(number)
        self._boilerplate = Boilerplate()
        if options.boilerplate == "drop":
            for number, signature in enumerate(own):
                if signature is not None and number not in self._originals:
                    self._boilerplate.count(number, signature.source, signature.blocks)
        self._boilerplate.settle()

    def has_same_id(self, number: int) -> bool:
        """Return whether a document is skipped, or one before it has its id."""
        return self._signatures[number] is None

    def original_of(self, number: int) -> int | None:
        """Return the document that stands for this one; None if it stands for itself."""
        return self._originals.get(number)

    def copies_of(self, number: int) -> Sequence[int]:
        """Return the documents that this one stands for, ascending."""
        return self._copies.get(number, ())

    def boilerplate_of(self, number: int) -> set[int]:
        """Return the keys of the blocks that are to be cut off the chunks of a document."""
        return self._boilerplate.unwanted(number)


def _without_repeated_ids(signatures: Sequence[Signature | None]) -> list[Signature | None]:
    """Return the signatures; None for documents whose id an earlier one has."""
    seen: set[bytes] = set()
    own: list[Signature | None] = []
    for signature in signatures:
        is_new = signature is not None and signature.id not in seen
        own.append(signature if is_new else None)
        if signature is not None:
            seen.add(signature.id)
    return own
