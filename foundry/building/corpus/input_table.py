"""The inputs of a build, with data from the previous build.

An input is identified by a hash of everything that decides how it is prepared. Its part of the
index can also depend on other documents: on boilerplate in earlier documents, and on copies. So a
document is copied from the previous index only if these decisions and its position are unchanged.
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foundry.building.documents.cache import DocumentCache
from foundry.building.documents.inputs import Inputs
from foundry.building.documents.lines import HASH_BYTES
from foundry.building.documents.signature import Signature
from foundry.building.report import Figures, Remarks
from foundry.documents import Skipped
from foundry.documents.reasons import Reason
from foundry.indexing.carried.carried import Carried
from foundry.indexing.carried.numbers import InputNumber, Span
from foundry.indexing.files import Rows, StoredRows, look_up

NOT_INDEXED = SKIPPED = UNKNOWN = -1
NO_REMARKS = Remarks()

_COLUMNS = np.dtype(
    [
        ("content", f"V{HASH_BYTES}"),
        ("source", "<i8"),
        ("id", "V16"),
        ("text", "V16"),
        ("decision", "<u8"),
        ("is_indexed", "?"),
        ("figures", "<i8", (len(Figures._fields),)),
    ]
)


class InputTable:
    """The n inputs of a build by number: the data that they depend on, and their outcome.

    `sources` (n,) are positions in `names`, SKIPPED for skipped inputs; `ids` and `texts` (n,) are
    hashes. `places` (n,) are the inputs' numbers in the previous build, UNKNOWN for new and changed
    inputs.
    """

    def __init__(
        self, inputs: Inputs, cache: DocumentCache, names: Sequence[str], carried: Carried
    ) -> None:
        self._carried = carried
        left, self._remarks = carried.array("inputs"), carried.rows("inputs.remarks", "B")
        self._before = np.zeros(0, dtype=_COLUMNS) if left is None else left
        self.contents = inputs.contents()
        self.places = _find(self._before["content"], self.contents)
        self._new_remarks: dict[int, Remarks | Skipped] = {}
        is_known = self.places >= 0
        self._columns = np.zeros(len(self.contents), dtype=_COLUMNS)
        self._columns[is_known] = self._before[self.places[is_known]]
        self._columns["content"] = self.contents
        self._new = np.flatnonzero(~is_known).tolist()
        self.sources, self.ids, self.texts = (
            self._columns[name] for name in ("source", "id", "text")
        )
        self.sources[self._new] = SKIPPED
        signatures, blocks = Rows("B"), Rows("Q")
        for number in self._new:
            content, end = inputs.take_signature(number, cache), 0
            if content:
                signature = Signature.from_bytes(content)
                self.sources[number] = names.index(signature.source)
                self.ids[number], self.texts[number] = signature.id, signature.text
                end = len(content) - signature.blocks.nbytes
            signatures.add(content[:end])
            blocks.add(content[end:])
        self._signatures = self._gather("B", carried.rows("inputs.signatures", "B"), signatures)
        self._blocks = self._gather("Q", carried.rows("inputs.blocks", "Q"), blocks)

    def __len__(self) -> int:
        return len(self._columns)

    def signature(self, number: InputNumber) -> Signature | None:
        """Return an input's signature, without blocks; None if the input was skipped."""
        content = self._signatures.bytes(number)
        return Signature.from_bytes(content) if content else None

    def blocks(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Return how many blocks each of the ascending `numbers` (m,) has, and their keys (b,)."""
        counts = np.diff(self._blocks.offsets).astype(np.int64)
        is_wanted = np.zeros(len(self), dtype=bool)
        is_wanted[numbers] = True
        return counts[numbers], self._blocks.columns[0][np.repeat(is_wanted, counts)]

    def documents_before(self, decisions: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the document number of each input (n,) in the previous index.

        It is NOT_INDEXED for inputs that were not in it, or whose decision has changed.
        """
        is_indexed = self._before["is_indexed"]
        numbers = np.where(is_indexed, np.cumsum(is_indexed) - 1, NOT_INDEXED)
        known = np.flatnonzero(self.places >= 0)
        places = self.places[known]
        is_same = self._before["decision"][places] == decisions[known]
        documents = np.full(len(self), NOT_INDEXED)
        documents[known] = np.where(is_same, numbers[places], NOT_INDEXED)
        return documents

    def remarks(self, number: InputNumber) -> Remarks | Skipped | None:
        """Return the report's remarks on an input, or why it was skipped; None if not yet known."""
        if (place := int(self.places[number])) < 0:
            return self._new_remarks.get(number)
        content = self._remarks.bytes(place)
        if not content:
            return NO_REMARKS
        said = json.loads(content)
        if isinstance(said, dict):
            return Skipped(**said | {"reason": Reason(said["reason"])})
        return Remarks(*said)

    def remarkable(self, inputs: Span[InputNumber]) -> list[InputNumber]:
        """Return the inputs in a span that the report has remarks on.

        The inputs must have followed each other without gaps in the previous build.
        """
        first, last = inputs
        place = int(self.places[first])
        lengths = np.diff(self._remarks.offsets[place : place + last - first + 1])
        return [InputNumber(number) for number in (first + np.flatnonzero(lengths)).tolist()]

    def figures(self, inputs: Span[InputNumber]) -> Figures:
        """Return the summed figures of a span of inputs."""
        figures = self._columns["figures"][slice(*inputs)]
        return Figures(*figures.sum(axis=0).tolist())

    def note(
        self,
        number: InputNumber,
        remarks: Remarks | Skipped,
        decision: int,
        figures: Figures | None,
    ) -> None:
        """Record the outcome of an input that was not copied.

        `figures` is None if it is not indexed.
        """
        self._new_remarks[number] = remarks
        is_indexed, row = figures is not None, tuple(figures or Figures())
        columns = self._columns
        columns["decision"][number], columns["is_indexed"][number] = decision, is_indexed
        columns["figures"][number] = row

    def leave(self) -> None:
        """Write the table for the next build."""
        remarks = Rows("B")
        for number in self._new:
            remarks.add(_encode(self._new_remarks[number]))
        self._carried.leave("inputs", self._columns)
        self._carried.leave("inputs.signatures", self._signatures)
        self._carried.leave("inputs.blocks", self._blocks)
        self._carried.leave("inputs.remarks", self._gather("B", self._remarks, remarks))

    def _gather(self, kind: str, before: StoredRows, added: Rows) -> StoredRows:
        """Merge the rows of the previous build with those `added`, in the order of the inputs."""
        rows, new = Rows(kind), added.stored()
        is_new = self.places < 0
        places = np.where(is_new, np.cumsum(is_new) - 1, self.places)
        goes_on = (np.diff(places) == 1) & (is_new[1:] == is_new[:-1])
        ends = {0, *(np.flatnonzero(~goes_on) + 1).tolist(), len(self)}
        for first, last in pairwise(sorted(ends)):
            place = int(places[first])
            rows.carry(new if is_new[first] else before, place, place + last - first)
        return rows.stored()


def _find(known: NDArray[np.void], contents: NDArray[np.void]) -> NDArray[np.int64]:
    places = {content: place for place, content in enumerate(known.tolist())}
    # An input with an all-zero hash may be prepared differently by another build.
    places.pop(bytes(HASH_BYTES), None)
    found = [places.get(content, UNKNOWN) for content in contents.tolist()]
    return np.array(found, dtype=np.int64)


def _encode(remarks: Remarks | Skipped) -> bytes:
    if remarks == NO_REMARKS:
        return b""
    said: Any = asdict(remarks) if isinstance(remarks, Skipped) else remarks
    return json.dumps(said).encode()


def decision_key(boilerplate: Iterable[int], copies: Iterable[bytes]) -> int:
    """Hash the decisions on a document: the boilerplate cut off it, and its copies.

    Returns 0 if there are none.
    """
    decided = (sorted(boilerplate), [copy.hex() for copy in copies])
    if not any(decided):
        return 0
    return int.from_bytes(blake2b(repr(decided).encode(), digest_size=8).digest())


def longest_ascent(numbers: Sequence[int]) -> set[int]:
    """Return the positions of a longest strictly ascending subsequence (Schensted 1961)."""
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


def find_shared(digests: NDArray[np.void]) -> NDArray[np.int64]:
    """Return the positions of 16-byte digests (n,) that may occur more than once, ascending."""
    # Half of a digest is enough to distinguish nearly all.
    halves = np.ascontiguousarray(digests).view("<u8")[::2]
    ordered = np.sort(halves)
    shared = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.flatnonzero(look_up(halves, shared, np.arange(len(shared))) != NOT_INDEXED)
