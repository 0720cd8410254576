"""Keys of chunks and terms in an engine, and the weights of terms.

Versions share rows, but differ in the numbers of chunks and terms, so rows are keyed by hashes of
ids and terms. Rows store nothing that depends on the whole corpus: BM25 is computed from counts,
lengths and the term weights of a version.
"""

from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..index.heading_terms import HEADING_MARK, heading_parts
from ..index.idf import idf
from ..index.layout import IndexFiles, Vocabulary, open_array
from ..index.lines import hash_key


class ChunkKeys:
    """Converts chunk numbers to keys (int64) and back.

    `keys` (n,) are sorted; `numbers` (n,) are the corresponding chunks.
    """

    def __init__(self, keys: NDArray[np.uint64], numbers: NDArray[np.uint64]) -> None:
        """Wrap the two rows of `IndexLayout.chunk_ids`."""
        self._keys, self._numbers = keys, numbers

    @classmethod
    def open(cls, files: IndexFiles) -> Self:
        """Memory-map the hashes of chunk ids and their numbers. Raises IndexUnusableError."""
        return cls(*open_array(files.layout.chunk_ids, np.uint64, (2, files.manifest.chunks)))

    @cached_property
    def by_number(self) -> NDArray[np.int64]:
        """The key (n,) of each chunk."""
        keys = np.empty(len(self._keys), dtype=np.int64)
        keys[self._numbers.astype(np.int64)] = self._keys.view(np.int64)
        return keys

    def numbers(self, keys: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return the numbers (m,) of chunks by keys (m,); None if a key belongs to no chunk."""
        wanted = keys.view(np.uint64)
        places = np.searchsorted(self._keys, wanted)
        if not np.array_equal(self._keys.take(places, mode="clip"), wanted):
            return None
        return self._numbers.take(places).astype(np.int64)


class Weight(NamedTuple):
    """The key and the weight of a term; heading terms are not normalised by length."""

    key: int
    weight: float
    is_heading: bool


class TermWeights:
    """The term weights of a version, as used in the build's impacts."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        offsets: NDArray[np.uint64],
        chunks: int,
        k1: float,
        b: float,
    ) -> None:
        """Wrap the sorted terms, the offsets of their postings, and the parameters of BM25."""
        self._vocabulary, self._offsets, self._chunks = vocabulary, offsets, chunks
        self.k1, self.b = k1, b

    @classmethod
    def open(cls, files: IndexFiles) -> Self:
        """Memory-map the vocabulary. Raises IndexUnusableError."""
        layout, manifest = files.layout, files.manifest
        vocabulary = Vocabulary.open(layout.terms, layout.term_offsets, manifest.terms)
        offsets = open_array(layout.posting_offsets, np.uint64, (manifest.terms + 1,))
        return cls(vocabulary, offsets, manifest.chunks, manifest.k1, manifest.b)

    def __getitem__(self, number: int) -> Weight:
        """Return the weight of a term by its number."""
        term = self._vocabulary[number].decode("utf-8", "replace")
        own = self._rarity(number)
        if not term.startswith(HEADING_MARK):
            return Weight(signed_key(term), own, is_heading=False)
        weight = 0.0
        # The parts are added in the same order as in a build, because floating-point sums depend on
        # it.
        for part in map(self._vocabulary.find, heading_parts(term)):
            weight += own if part is None else self._rarity(part)
        return Weight(signed_key(term), weight, is_heading=True)

    def _rarity(self, number: int) -> float:
        start, end = self._offsets[number : number + 2].tolist()
        return round(idf(end - start, self._chunks), 9)


def signed_key(text: str) -> int:
    """Return the key of an id or a term: its hash as a signed integer."""
    key = hash_key(text)
    return key - 2**64 if key >= 2**63 else key
