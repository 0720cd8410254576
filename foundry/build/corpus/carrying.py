"""Which inputs went into the index before, and as what: a build takes them over from there.

An input is known by the hash of all that decides what is prepared of it. What goes into the index
of it may depend on others as well: on boilerplate that one before it has, and on its copies. So a
document is taken over where these decisions are the same, and its order among the others is.
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from foundry.build.documents.signature import Signature
from foundry.build.report import Figures, Remarks
from foundry.embedding.static import StaticEmbedder
from foundry.indexing.carried import Previous
from foundry.indexing.files import Rows, StoredRows, open_stored, write_array
from foundry.records import Skipped

NOT_INDEXED = -1
NO_REMARKS = Remarks()
INPUTS, PIECE_COUNTS = "inputs.npy", "pieces.npy"
"""Left for the next build: a row for each input, and in how many chunks each piece occurs."""

_COLUMNS = np.dtype(
    [
        ("content", "V32"),
        ("decision", "<u8"),
        ("document", "<i8"),
        ("figures", "<i8", (4,)),
    ]
)


class KnownInputs:
    """The inputs of the build before, by what decides them; each has a place."""

    def __init__(self, previous: Previous | None) -> None:
        self._places: dict[bytes, int] = {}
        if previous is None:
            return
        left = previous.left
        columns = open_stored(left / INPUTS)
        contents = columns["content"].tolist()
        self._places = {content: place for place, content in enumerate(contents)}
        self._decisions: list[int] = columns["decision"].tolist()
        self._documents: list[int] = columns["document"].tolist()
        self._figures: list[list[int]] = columns["figures"].tolist()
        self.stored_signatures = StoredRows.open(left, "inputs.signatures")
        self.stored_remarks = StoredRows.open(left, "inputs.remarks")
        self._chunks = previous.manifest.chunks
        if previous.has_own_vectors:
            self._pieces = open_stored(left / PIECE_COUNTS)

    def find(self, content: bytes | None) -> int | None:
        """Return the place of an input; None where it is not known."""
        return None if content is None else self._places.get(content)

    def signature(self, place: int) -> Signature | None:
        """Return what is compared of a document; None for one that was skipped."""
        content = self.stored_signatures.bytes(place)
        return Signature.from_bytes(content) if content else None

    def document(self, place: int, decision: int) -> int:
        """Return the number of a document in the index; NOT_INDEXED where it is not in it, or
        otherwise than after this decision."""
        return self._documents[place] if self._decisions[place] == decision else NOT_INDEXED

    def figures(self, place: int) -> Figures:
        """Return what a report says of a document in the index."""
        return Figures(*self._figures[place])

    def remarks(self, place: int) -> Remarks | Skipped:
        """Return what a report says of an input."""
        content = self.stored_remarks.bytes(place)
        if not content:
            return NO_REMARKS
        said = json.loads(content)
        return Skipped(**said) if isinstance(said, dict) else Remarks(*said)

    def resume(self, embedder: StaticEmbedder, gone: Iterable[str]) -> None:
        """Let the embedder know what it observed of the index before, without the texts `gone`."""
        if self._places:
            embedder.resume(self._pieces, self._chunks, gone)


class InputsBuilder:
    """Collects the inputs of a build for the next one; some are `known` from the one before."""

    def __init__(self, known: KnownInputs) -> None:
        self._known = known
        # Known inputs that are to be taken over next, all at once.
        self._span = range(0)
        self._columns: list[tuple[bytes, int, int, tuple[int, ...]]] = []
        self._signatures, self._remarks = Rows("B"), Rows("B")

    def add(
        self,
        content: bytes,
        signature: bytes,
        remarks: Remarks | Skipped,
        decision: int,
        document: int,
        figures: Figures,
    ) -> None:
        """Take an input, with its signature as bytes; `document` is its number in the index."""
        self._end_span()
        self._columns.append((content, decision, document, tuple(figures)))
        self._signatures.add(signature)
        self._remarks.add(_encode(remarks))

    def carry(
        self, place: int, content: bytes, decision: int, document: int, figures: Figures
    ) -> None:
        """Take the known input at a place, with its signature and remarks."""
        if place != self._span.stop:
            self._end_span()
            self._span = range(place, place)
        self._span = range(self._span.start, place + 1)
        self._columns.append((content, decision, document, tuple(figures)))

    def _end_span(self) -> None:
        first, last = self._span.start, self._span.stop
        self._span = range(0)
        if first < last:
            self._signatures.carry(self._known.stored_signatures, first, last)
            self._remarks.carry(self._known.stored_remarks, first, last)

    def leave(self, left: Path, embedder: StaticEmbedder | None) -> None:
        """Write the files, and what the embedder observed of all chunks."""
        self._end_span()
        if embedder is not None:
            write_array(left / PIECE_COUNTS, embedder.frequencies)
        write_array(left / INPUTS, np.array(self._columns, dtype=_COLUMNS))
        self._signatures.stored().write(left, "inputs.signatures")
        self._remarks.stored().write(left, "inputs.remarks")


def _encode(remarks: Remarks | Skipped) -> bytes:
    if remarks == NO_REMARKS:
        return b""
    said: Any = asdict(remarks) if isinstance(remarks, Skipped) else remarks
    return json.dumps(said).encode()


def decision_key(content: bytes, boilerplate: Iterable[int], copies: Iterable[bytes]) -> int:
    """Name what goes into the index of a document, without what is cut off and with its copies."""
    digest = blake2b(content, digest_size=8)
    digest.update(repr(sorted(boilerplate)).encode())
    for copy in copies:
        digest.update(copy)
    return int.from_bytes(digest.digest())


def longest_ascent(numbers: Sequence[int]) -> set[int]:
    """Return the places of a longest strictly ascending subsequence (Schensted 1961)."""
    ends: list[int] = []
    values: list[int] = []
    before = [-1] * len(numbers)
    for place, number in enumerate(numbers):
        length = bisect_left(values, number)
        before[place] = ends[length - 1] if length else -1
        ends[length : length + 1] = [place]
        values[length : length + 1] = [number]
    chosen: set[int] = set()
    place = ends[-1] if ends else -1
    while place >= 0:
        chosen.add(place)
        place = before[place]
    return chosen
