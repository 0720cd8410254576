"""The content of an index, memory-mapped for publishing."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from foundry.errors import IndexUnusableError
from foundry.indexing.versions import open_index
from foundry.runtime.index.layout import IndexFiles, Vocabulary, open_array
from foundry.runtime.index.reader import Index
from foundry.runtime.index.statistics import CHUNK_LENGTHS, MEAN_LENGTH, POSTING_COUNTS, STATISTICS
from foundry.runtime.retrieval.dense_lane import DenseLane
from foundry.runtime.retrieval.keyword_lane import KeywordLane
from foundry.runtime.store.store import Edition


@dataclass(frozen=True, slots=True)
class Content:
    """One version of an index: n chunks, d dimensions, v terms, p postings.

    Arrays are those of `IndexLayout`: `vectors` int8 (n, d), `scales` float32 (n,), `offsets`
    uint64 (v + 1,), `chunks` uint32 (p,), `impacts` float32 (p,), `counts` uint32 (p,) and
    `lengths` uint32 (n,), which BM25 divides by `mean_length`. `dense_lane` and `keyword_lane`
    search these arrays exactly; `index` has records and filter columns.
    """

    edition: Edition
    files: IndexFiles
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]
    offsets: NDArray[np.uint64]
    chunks: NDArray[np.uint32]
    impacts: NDArray[np.float32]
    counts: NDArray[np.uint32]
    lengths: NDArray[np.uint32]
    mean_length: float
    vocabulary: Vocabulary
    index: Index
    dense_lane: DenseLane
    keyword_lane: KeywordLane

    @classmethod
    def open(cls, index: Path) -> Self:
        """Map the files of an index. Raises IndexUnusableError."""
        files = IndexFiles.open(index)
        layout, manifest = files.layout, files.manifest
        dense, n, v, p = manifest.dense, manifest.chunks, manifest.terms, manifest.postings
        if dense is None:
            raise IndexUnusableError(
                f"{index}: has no vectors, which engines need",
                hint="set embedding.provider in foundry.toml and build again",
            )
        statistics = layout.root / STATISTICS
        if not (statistics / MEAN_LENGTH).exists():
            raise IndexUnusableError(
                f"{index}: has no term counts, which engines need",
                hint="set store.engine in foundry.toml and build again",
            )
        (mean_length,) = open_array(statistics / MEAN_LENGTH, np.float64, (1,)).tolist()
        return cls(
            edition=Edition.open(files),
            files=files,
            vectors=open_array(layout.vectors, np.int8, (n, dense["dimensions"])),
            scales=open_array(layout.vector_scales, np.float32, (n,)),
            offsets=open_array(layout.posting_offsets, np.uint64, (v + 1,)),
            chunks=open_array(layout.posting_chunks, np.uint32, (p,)),
            impacts=open_array(layout.posting_impacts, np.float32, (p,)),
            counts=open_array(statistics / POSTING_COUNTS, np.uint32, (p,)),
            lengths=open_array(statistics / CHUNK_LENGTHS, np.uint32, (n,)),
            mean_length=mean_length,
            vocabulary=Vocabulary.open(layout.terms, layout.term_offsets, v),
            index=open_index(index),
            # Exact: every chunk is a candidate.
            dense_lane=DenseLane.map(layout, n, dense["dimensions"], n),
            keyword_lane=KeywordLane.map(layout, n, v, p),
        )

    @property
    def version(self) -> str:
        """The version in the manifest."""
        return self.edition.version


def batches(total: int, size: int) -> Iterator[slice]:
    """Yield slices that cover `total` items, `size` at a time."""
    for start in range(0, total, size):
        yield slice(start, min(total, start + size))
