"""Keep what the next build needs in order to copy what has not changed.

An index does not hold everything that its successor has to know: how often a term occurs in a
chunk, what a link asks for, which input gave which document. That is kept in a folder of its own
beside the index, never in it.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.dense.nearest import KnownNearest
from foundry.indexing.files import StoredRecords, describe_files, encode_json, open_stored
from foundry.runtime.index.layout import IndexLayout, Manifest
from foundry.runtime.index.reader import make_record
from foundry.runtime.index.records import ChunkRecord

MANIFEST = "carried.json"
"""Says what the folder belongs to, and the sizes and hashes of its other files."""


@dataclass(frozen=True, slots=True)
class Previous:
    """A published index, and the folder that its build has left for the next one."""

    index: IndexLayout
    left: Path
    manifest: Manifest
    document_chunks: NDArray[np.uint64]

    @classmethod
    def open(cls, index: Path, manifest: Manifest, left: Path, state: str) -> Self | None:
        """Open an index that is known to be intact; `state` is that of the build to come.

        Returns None if the build of this index left nothing for this state, or part of it is gone.
        """
        layout = IndexLayout(index)
        try:
            noted = json.loads((left / MANIFEST).read_bytes())
            files = describe_files(left)
            del files[MANIFEST]
            if noted != {"state": state, "version": manifest.version, "files": files}:
                return None
            return cls(layout, left, manifest, open_stored(layout.document_chunks))
        except (OSError, ValueError, LookupError):
            return None

    def chunks_of(self, first: int, last: int) -> tuple[int, int]:
        """Return the first chunk of the documents from `first` to `last`, and the one after all."""
        start, end = self.document_chunks[[first, last]].tolist()
        return start, end

    @property
    def has_own_vectors(self) -> bool:
        """True if its vectors are of the built-in table, which documents bring with them."""
        return self.manifest.dense is not None and self.manifest.dense["provider"] == "static"


@contextmanager
def begun_carrying(folder: Path) -> Iterator[Path]:
    """A folder for what is to take the place of `folder`; gone afterwards unless it did."""
    written = folder.with_suffix(".tmp")
    shutil.rmtree(written, ignore_errors=True)
    written.mkdir()
    try:
        yield written
    finally:
        shutil.rmtree(written, ignore_errors=True)


def leave_for_next(written: Path, folder: Path, state: str, version: str) -> None:
    """Move what a build has `written` to `folder`, in place of what was left there before."""
    described = {"state": state, "version": version, "files": describe_files(written)}
    (written / MANIFEST).write_bytes(encode_json(described))
    shutil.rmtree(folder, ignore_errors=True)
    written.rename(folder)


class Carrying:
    """Says what is copied from a previous index, and opens the files that are copied in spans.

    `documents` (n,) and `chunks` (m,) give the number that each of the previous index has in the
    next one, once all have been copied; -1 for what is left out.
    """

    def __init__(self, previous: Previous) -> None:
        self.previous = previous
        manifest, layout = previous.manifest, previous.index
        self.documents, self.chunks = np.full(manifest.documents, -1), np.full(manifest.chunks, -1)
        self.chunk_records = StoredRecords.open(
            layout.chunks, layout.chunk_offsets, layout.chunk_ids
        )
        self.document_records = StoredRecords.open(
            layout.documents, layout.document_offsets, layout.document_ids
        )
        self.vectors: tuple[NDArray[np.int8], NDArray[np.float32]] | None = None
        if previous.has_own_vectors:
            self.vectors = open_stored(layout.vectors), open_stored(layout.vector_scales)

    def nearest(self, count: int) -> KnownNearest | None:
        """Return the nearest that are known among `count` vectors; None if none are copied."""
        return KnownNearest(self.previous.left, self.chunks, count) if self.vectors else None

    def chunks_left_out(self) -> Iterator[ChunkRecord]:
        """Yield the chunks that are not copied."""
        for number in np.flatnonzero(self.chunks < 0).tolist():
            line = b"".join(self.chunk_records.blocks(number, number + 1))
            yield make_record(ChunkRecord, json.loads(line))
