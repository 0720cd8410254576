"""The chunks of a built index, as peers are given them: the same texts and the same vectors."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundry.embedding.many_texts import encode_all
from foundry.indexing.versions import open_index
from foundry.runtime.retrieval.encoder import PieceEncoder

BATCH = 1_024


class IndexedCorpus:
    """Texts and vectors of an index, and the encoder of its queries."""

    def __init__(self, index: Path) -> None:
        self._index = open_index(index)
        self._encoder = PieceEncoder.open(self._index.layout.encoder)

    @property
    def dimensions(self) -> int:
        """Length of the vectors."""
        return self._encoder.description.dimensions

    def texts(self) -> Iterator[str]:
        """The text of each chunk."""
        for number in range(self._index.chunk_count):
            yield self._index.chunk(number).text

    def batches(self) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """Texts, and their unit vectors (n, d), some at a time."""
        rows = np.load(self._index.layout.vectors, mmap_mode="r")
        scales = np.load(self._index.layout.vector_scales, mmap_mode="r")
        for start in range(0, self._index.chunk_count, BATCH):
            part = slice(start, min(start + BATCH, self._index.chunk_count))
            texts = [self._index.chunk(number).text for number in range(part.start, part.stop)]
            vectors: NDArray[np.float32] = rows[part].astype(np.float32) * scales[part, None]
            yield texts, vectors

    def encode(self, query: str) -> NDArray[np.float32]:
        """The vector (d,) of a query; zeros if it has none."""
        vector: NDArray[np.float32] = encode_all(self._encoder, [query])[0]
        return vector
