"""What of a corpus goes into its index: no copies, no boilerplate."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from foundry.build.deduplication.boilerplate import Boilerplate, Trimmed, trim
from foundry.build.deduplication.copies import find_copies
from foundry.build.deduplication.signature import Signature
from foundry.config.file import BuildSection
from foundry.records import Chunk, Document, Place


class Corpus:
    """All documents of a build by their signatures, and what is decided about each.

    Documents are numbered in the order in which they were taken. To be called in this order:
    `take` for each document, `settle`, then `trim` for those that stay, in the same order.
    """

    def __init__(self, options: BuildSection) -> None:
        self._options = options
        self._signatures: list[Signature | None] = []
        self._ids: set[bytes] = set()
        self._copies: dict[int, int] = {}
        self._copies_of: dict[int, list[int]] = {}
        self._boilerplate = Boilerplate()

    def take(self, signature: Signature | None) -> None:
        """Take the next document; None for one that is skipped."""
        if signature is not None and signature.id in self._ids:
            signature = None
        if signature is not None:
            self._ids.add(signature.id)
        self._signatures.append(signature)

    def settle(self, read: Callable[[int], Document]) -> None:
        """Decide, when all have been taken; `read` gives a document by its number."""
        self._copies = find_copies(self._signatures, self._options.duplicates, read)
        for number, kept in self._copies.items():
            self._copies_of.setdefault(kept, []).append(number)
        if self._options.boilerplate == "drop":
            for number, signature in enumerate(self._signatures):
                if signature is not None and number not in self._copies:
                    self._boilerplate.count(signature.source, signature.blocks)
        self._boilerplate.settle()

    def has_same_id(self, number: int) -> bool:
        """Return whether a document before this one has its id."""
        return self._signatures[number] is None

    def original_of(self, number: int) -> int | None:
        """Return the document that stands for this one; None if it stands for itself."""
        return self._copies.get(number)

    def copies_of(self, number: int) -> Sequence[int]:
        """Return the documents that this one stands for, ascending."""
        return self._copies_of.get(number, ())

    def trim(self, number: int, document: Document, chunks: tuple[Chunk, ...]) -> Trimmed:
        """Return the chunks of a document without boilerplate."""
        signature = self._signatures[number]
        assert signature is not None
        unwanted = self._boilerplate.unwanted(signature.source, signature.blocks)
        return trim(document, chunks, unwanted) if unwanted else Trimmed(chunks)


def with_copies(document: Document, copies: Sequence[Document]) -> Document:
    """A document that says where its copies are, and is found by their tags."""
    if not copies:
        return document
    tags = {*document.tags, *(tag for copy in copies for tag in copy.tags)}
    places = [Place(copy.id, copy.source, copy.path, copy.url, copy.title) for copy in copies]
    return replace(document, tags=tuple(sorted(tags)), also_at=tuple(places))
