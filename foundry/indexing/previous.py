"""The previous index, and the new numbers of the documents that a build copies from it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.dense.nearest import PreviousNearest
from foundry.indexing.files import StoredRecords, open_stored
from foundry.indexing.handover import Handover
from foundry.runtime.index.layout import IndexLayout, Manifest
from foundry.runtime.index.lines import make_record
from foundry.runtime.index.records import ChunkRecord


@dataclass(frozen=True, slots=True)
class Previous:
    """A published index, and what its build has left for the next one."""

    index: IndexLayout
    handover: Handover
    manifest: Manifest
    document_chunks: NDArray[np.uint64]

    @classmethod
    def open(cls, index: Path, manifest: Manifest, handover: Path, state: str) -> Self | None:
        """Open an index that is known to be intact; `state` is that of the build to come.

        Returns None if the build of this index left nothing for this state, or part of it is gone.
        """
        layout, handed_over = IndexLayout(index), Handover(handover)
        try:
            if not handed_over.belongs_to(state, manifest.version):
                return None
            return cls(layout, handed_over, manifest, open_stored(layout.document_chunks))
        except (OSError, ValueError, LookupError):
            return None

    def chunks_of(self, first: int, last: int) -> tuple[int, int]:
        """Return the first chunk of the documents from `first` to `last`, and the one after all."""
        start, end = self.document_chunks[[first, last]].tolist()
        return start, end

    @property
    def has_own_vectors(self) -> bool:
        """True if its vectors come from the built-in table: documents bring theirs along."""
        return self.manifest.dense is not None and self.manifest.dense["provider"] == "static"


class Carrying:
    """Says what is copied from a previous index, and opens the files that are copied in spans.

    `document_numbers` (n,) and `chunk_numbers` (m,) are those that documents and chunks of the
    previous index have in the next one, once all have been copied; -1 for what is left out.
    """

    def __init__(self, previous: Previous) -> None:
        self.previous = previous
        manifest, layout = previous.manifest, previous.index
        self.document_numbers = np.full(manifest.documents, -1)
        self.chunk_numbers = np.full(manifest.chunks, -1)
        self.chunk_records = StoredRecords.open(
            layout.chunks, layout.chunk_offsets, layout.chunk_ids
        )
        self.document_records = StoredRecords.open(
            layout.documents, layout.document_offsets, layout.document_ids
        )
        self.vectors: tuple[NDArray[np.int8], NDArray[np.float32]] | None = None
        if previous.has_own_vectors:
            self.vectors = open_stored(layout.vectors), open_stored(layout.vector_scales)

    def nearest(self, count: int) -> PreviousNearest | None:
        """Return the neighbours known among `count` vectors; None if no vectors are copied."""
        if self.vectors is None:
            return None
        return PreviousNearest(self.previous.handover, self.chunk_numbers, count)

    def chunks_left_out(self) -> Iterator[ChunkRecord]:
        """Yield the chunks that are not copied."""
        for number in np.flatnonzero(self.chunk_numbers < 0).tolist():
            line = b"".join(self.chunk_records.blocks(number, number + 1))
            yield make_record(ChunkRecord, json.loads(line))
