"""Find the inputs of the previous build, so that unchanged documents can be copied.

An input is identified by a hash of everything that decides how it is prepared. What the index holds
of it can also depend on other documents: on boilerplate that an earlier one has, and on its copies.
So a document is copied if these decisions and its place among the others are unchanged.
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.building.documents.signature import Signature
from foundry.building.report import Figures, Remarks
from foundry.documents import Skipped
from foundry.documents.reasons import Reason
from foundry.embedding.static import StaticEmbedder
from foundry.indexing.files import Rows, StoredRows, open_stored, write_array
from foundry.indexing.handover import Handover
from foundry.indexing.previous import Previous

NOT_INDEXED = SKIPPED = -1
NO_REMARKS = Remarks()

_COLUMNS = np.dtype(
    [
        ("content", "V32"),
        ("source", "<i8"),
        ("id", "V16"),
        ("text", "V16"),
        ("decision", "<u8"),
        ("document", "<i8"),
        ("figures", "<i8", (len(Figures._fields),)),
    ]
)


class PreviousInputs:
    """The inputs of the previous build by place, found by the hash of their content."""

    def __init__(self, previous: Previous | None) -> None:
        self.columns = np.zeros(0, dtype=_COLUMNS)
        self._signatures = self._remarks = Rows("B").stored()
        self.blocks = Rows("Q").stored()
        if previous is not None:
            handover = previous.handover
            self.columns = open_stored(handover.inputs)
            self._signatures = StoredRows.open(handover.input_signatures)
            self.blocks = StoredRows.open(handover.input_blocks)
            self._remarks = StoredRows.open(handover.input_remarks)
            self._chunks = previous.manifest.chunks
            if previous.has_own_vectors:
                self._pieces = open_stored(handover.piece_counts)

    def find(self, contents: Sequence[bytes | None]) -> NDArray[np.int64]:
        """Return the places (n,) of inputs; -1 where one is not known."""
        places = {content: place for place, content in enumerate(self.columns["content"].tolist())}
        return np.array([places.get(content or b"", -1) for content in contents], dtype=np.int64)

    def signature(self, place: int) -> Signature | None:
        """Return the signature that decides whether a document changed; None if it was skipped."""
        content = self._signatures.bytes(place)
        if not content:
            return None
        blocks = self.blocks.columns[0][self.blocks.span(place, place + 1)]
        return Signature.from_bytes(content)._replace(blocks=blocks)

    def documents(
        self, places: NDArray[np.int64], decisions: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Return the numbers (n,) of documents in the index, by their places (n,).

        NOT_INDEXED for one that is not in it, or that went in under another decision (n,).
        """
        documents = np.full(len(places), NOT_INDEXED)
        known = np.flatnonzero(places >= 0)
        columns = self.columns[places[known]]
        is_same = columns["decision"] == decisions[known]
        documents[known] = np.where(is_same, columns["document"], NOT_INDEXED)
        return documents

    def remarkable(self, first: int, last: int) -> list[int]:
        """Return the places from `first` to `last` of inputs that a report has remarks on."""
        lengths = np.diff(self._remarks.offsets[first : last + 1])
        return (first + np.flatnonzero(lengths)).tolist()

    def remarks(self, place: int) -> Remarks | Skipped:
        """Return the report's remarks on an input."""
        content = self._remarks.bytes(place)
        if not content:
            return NO_REMARKS
        said = json.loads(content)
        if isinstance(said, dict):
            return Skipped(**said | {"reason": Reason(said["reason"])})
        return Remarks(*said)

    def figures(self, first: int, last: int) -> Figures:
        """Return the sum of the figures of documents from `first` to `last`."""
        return Figures(*self.columns["figures"][first:last].sum(axis=0).tolist())

    def carry(self, first: int, last: int, signatures: Rows, blocks: Rows, remarks: Rows) -> None:
        """Add what is known of the inputs at places from `first` to `last`."""
        signatures.carry(self._signatures, first, last)
        blocks.carry(self.blocks, first, last)
        remarks.carry(self._remarks, first, last)

    def resume(self, embedder: StaticEmbedder, gone: Iterable[str]) -> None:
        """Restore the embedder's counts of the previous build, without the texts `gone`."""
        if len(self.columns):
            embedder.resume(self._pieces, self._chunks, gone)


class InputsBuilder:
    """Collects the inputs of a build for the next one; some are those of the `previous` one.

    `sources` are the names of all sources, in their order.
    """

    def __init__(self, previous: PreviousInputs, sources: Sequence[str]) -> None:
        self._previous, self._sources = previous, sources
        self._columns = [previous.columns[:0]]
        self._signatures, self._blocks, self._remarks = Rows("B"), Rows("Q"), Rows("B")

    def add(
        self,
        content: bytes,
        signature: Signature | None,
        remarks: Remarks | Skipped,
        decision: int,
        document: int,
        figures: Figures,
    ) -> None:
        """Take an input; `document` is its number in the index."""
        compared: tuple[int, bytes, bytes] = SKIPPED, b"", b""
        if signature is not None:
            compared = self._sources.index(signature.source), signature.id, signature.text
        row = (content, *compared, decision, document, tuple(figures))
        self._columns.append(np.array([row], dtype=_COLUMNS))
        unblocked = signature and signature._replace(blocks=signature.blocks[:0])
        self._signatures.add(unblocked.to_bytes() if unblocked else b"")
        self._blocks.add(signature.blocks.astype(np.uint64).tobytes() if signature else b"")
        self._remarks.add(_encode(remarks))

    def carry(self, first: int, last: int, document: int) -> None:
        """Copy the inputs at places `first` to `last`, all of them indexed; `document` is the
        number of the first in the new index."""
        columns = self._previous.columns[first:last].copy()
        columns["document"] = np.arange(document, document + last - first)
        self._columns.append(columns)
        self._previous.carry(first, last, self._signatures, self._blocks, self._remarks)

    def hand_over(self, handover: Handover, embedder: StaticEmbedder | None) -> None:
        """Write the files, and what the embedder observed of all chunks."""
        if embedder is not None:
            write_array(handover.piece_counts, embedder.frequencies)
        write_array(handover.inputs, np.concatenate(self._columns))
        self._signatures.stored().write(handover.input_signatures)
        self._blocks.stored().write(handover.input_blocks)
        self._remarks.stored().write(handover.input_remarks)


def _encode(remarks: Remarks | Skipped) -> bytes:
    if remarks == NO_REMARKS:
        return b""
    said: Any = asdict(remarks) if isinstance(remarks, Skipped) else remarks
    return json.dumps(said).encode()


def decision_key(boilerplate: Iterable[int], copies: Iterable[bytes]) -> int:
    """Hash the decisions on a document, which are the boilerplate cut off it and its copies; 0 if
    there are none."""
    decided = (sorted(boilerplate), [copy.hex() for copy in copies])
    if not any(decided):
        return 0
    return int.from_bytes(blake2b(repr(decided).encode(), digest_size=8).digest())


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
