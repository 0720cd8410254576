"""The signatures of all documents of a build, compared as arrays: a corpus may have millions."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from foundry.building.corpus.previous_inputs import NOT_INDEXED, SKIPPED, PreviousInputs
from foundry.building.documents.cache import DocumentCache
from foundry.building.documents.inputs import Inputs
from foundry.building.documents.signature import Signature
from foundry.indexing.files import Rows, look_up


class Signatures:
    """Signatures by the numbers of documents; those of `previous` inputs have `places` (n,) there.

    `sources` (n,) are numbers of `names`, SKIPPED for what is skipped; `ids` and `texts` (n,) are
    hashes.
    """

    def __init__(
        self,
        inputs: Inputs,
        cache: DocumentCache,
        names: Sequence[str],
        previous: PreviousInputs,
        places: NDArray[np.int64],
    ) -> None:
        self._previous, self._places = previous, places
        is_known = places >= 0
        known = previous.columns[places[is_known]]
        self.sources = np.full(len(places), SKIPPED)
        self.ids, self.texts = (np.zeros(len(places), dtype="V16") for _ in range(2))
        for column, name in ((self.sources, "source"), (self.ids, "id"), (self.texts, "text")):
            column[is_known] = known[name]
        self._new = {
            number: inputs.signature(number, cache) for number in np.flatnonzero(~is_known).tolist()
        }
        for number, signature in self._new.items():
            if signature is not None:
                self.sources[number] = names.index(signature.source)
                self.ids[number], self.texts[number] = signature.id, signature.text
        self._blocks = self._collect_blocks().stored()

    def __len__(self) -> int:
        return len(self.sources)

    def __getitem__(self, number: int) -> Signature | None:
        if number in self._new:
            return self._new[number]
        return self._previous.signature(int(self._places[number]))

    def blocks(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Return how many blocks documents (n,) have, and the keys of all of them in order."""
        counts = np.diff(self._blocks.offsets).astype(np.int64)
        is_wanted = np.zeros(len(self), dtype=bool)
        is_wanted[numbers] = True
        return counts[numbers], self._blocks.columns[0][np.repeat(is_wanted, counts)]

    def _collect_blocks(self) -> Rows:
        blocks = Rows("Q")
        goes_on = (np.diff(self._places) == 1) & (self._places[:-1] >= 0)
        ends = {0, *(np.flatnonzero(~goes_on) + 1).tolist(), len(self)}
        for first, last in pairwise(sorted(ends)):
            if (place := int(self._places[first])) >= 0:
                blocks.carry(self._previous.blocks, place, place + last - first)
            elif (signature := self._new[first]) is not None:
                blocks.add(signature.blocks.astype(np.uint64).tobytes())
            else:
                blocks.add(b"")
        return blocks


def find_shared(digests: NDArray[np.void]) -> NDArray[np.int64]:
    """Return, ascending, the places of digests (n,) of 16 bytes that may occur more than once."""
    # Half of a digest tells almost all apart.
    halves = np.ascontiguousarray(digests).view("<u8")[::2]
    ordered = np.sort(halves)
    shared = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.flatnonzero(look_up(halves, shared, np.arange(len(shared))) != NOT_INDEXED)
