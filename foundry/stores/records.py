"""Records for an engine: the lines of an index, by chunk.

A document's line is stored with its first chunk, since every document has one.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from foundry.runtime.index.layout import IndexFiles, open_array, open_bytes


@dataclass(frozen=True)
class Records:
    """The lines of chunks (n,) and documents (m,).

    `ends` (n + 1,) and `document_ends` (m + 1,) are their offsets. Document i begins with chunk
    `firsts[i]`.
    """

    chunks: memoryview
    ends: NDArray[np.uint64]
    documents: memoryview
    document_ends: NDArray[np.uint64]
    firsts: NDArray[np.int64]

    @classmethod
    def open(cls, files: IndexFiles) -> Self:
        """Map the files. Raises IndexUnusableError."""
        layout, manifest = files.layout, files.manifest
        ends = open_array(layout.chunk_offsets, np.uint64, (manifest.chunks + 1,))
        document_ends = open_array(layout.document_offsets, np.uint64, (manifest.documents + 1,))
        firsts = open_array(layout.document_chunks, np.uint64, (manifest.documents + 1,))
        return cls(
            open_bytes(layout.chunks, int(ends[-1])),
            ends,
            open_bytes(layout.documents, int(document_ends[-1])),
            document_ends,
            firsts[:-1].astype(np.int64),
        )

    def chunk(self, number: int) -> bytes:
        """Return the line of a chunk."""
        return _line(self.chunks, self.ends, number)

    def document(self, chunk: int) -> bytes | None:
        """Return the line of the document whose first chunk this is, if there is one."""
        place = int(self.firsts.searchsorted(chunk))
        begins = place < len(self.firsts) and int(self.firsts[place]) == chunk
        return _line(self.documents, self.document_ends, place) if begins else None

    @cached_property
    def codes(self) -> NDArray[np.uint64]:
        """The hash (n,) of the lines stored with each chunk."""
        count = len(self.ends) - 1
        return np.fromiter(map(self._code, range(count)), np.uint64, count)

    def _code(self, chunk: int) -> int:
        lines = hashlib.blake2b(self.chunk(chunk), digest_size=8)
        lines.update(self.document(chunk) or b"")
        return int.from_bytes(lines.digest(), "big")


def _line(content: memoryview, ends: NDArray[np.uint64], number: int) -> bytes:
    start, end = ends[number : number + 2].tolist()
    return bytes(content[start:end])
