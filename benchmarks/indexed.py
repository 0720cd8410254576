"""The chunks of a built index, for peers: the same texts and the same vectors."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundry.embedding.many_texts import encode_all
from foundry.indexing.versions import open_index
from foundry.runtime.index.layout import Manifest
from foundry.runtime.retrieval.encoder import PieceEncoder

BATCH = 1_024


class IndexedCorpus:
    """Texts and vectors of an index, and the encoder for queries."""

    def __init__(self, index: Path) -> None:
        self._index = open_index(index)
        self._encoder = PieceEncoder.open(self._index.layout.encoder)

    @property
    def manifest(self) -> Manifest:
        """The manifest of the index."""
        return self._index.manifest

    @property
    def dimensions(self) -> int:
        """The length of the vectors."""
        return self._encoder.description.dimensions

    def texts(self) -> Iterator[str]:
        """Yield the text of each chunk."""
        for number in range(self._index.chunk_count):
            yield self._index.chunk(number).text

    def batches(self) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """Yield batches of texts, with their unit vectors (n, d)."""
        rows = np.load(self._index.layout.vectors, mmap_mode="r")
        scales = np.load(self._index.layout.vector_scales, mmap_mode="r")
        for start in range(0, self._index.chunk_count, BATCH):
            part = slice(start, min(start + BATCH, self._index.chunk_count))
            texts = [self._index.chunk(number).text for number in range(part.start, part.stop)]
            vectors: NDArray[np.float32] = rows[part].astype(np.float32) * scales[part, None]
            yield texts, vectors

    def vectors(self) -> NDArray[np.float32]:
        """Return the vectors of all chunks (n, d)."""
        return np.concatenate([vectors for _, vectors in self.batches()])

    def nearest(self, queries: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """Return the numbers (q, count) of the nearest chunks, by comparing all vectors."""
        scores = np.concatenate([queries @ vectors.T for _, vectors in self.batches()], axis=1)
        return np.argpartition(-scores, count, axis=1)[:, :count]

    def encode(self, query: str) -> NDArray[np.float32]:
        """Return the vector (d,) of a query; zeros if it has none."""
        vector: NDArray[np.float32] = encode_all(self._encoder, [query])[0]
        return vector
