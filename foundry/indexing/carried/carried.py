"""Takes data from the previous build, and stores data for the next one."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.carried.numbers import DocumentNumber, PreviousChunk, PreviousDocument, Span
from foundry.indexing.carried.tables import Table
from foundry.indexing.files import (
    Rows,
    StoredRecords,
    StoredRows,
    describe_files,
    encode_json,
    open_stored,
    write_array,
)
from foundry.runtime.index.layout import IndexLayout, Manifest
from foundry.runtime.index.lines import make_record
from foundry.runtime.index.records import ChunkRecord

MANIFEST = "handover.json"
"""The file with a folder's state and index version, and the sizes and hashes of its other files."""


class _Before(NamedTuple):
    """The previous index, verified, and the folder that its build left."""

    folder: Path
    layout: IndexLayout
    manifest: Manifest

    @classmethod
    def open(cls, folder: Path, state: str, index: Path) -> Self | None:
        """Open the data; None if none fits state and index, or a file is missing or changed."""
        layout = IndexLayout(index)
        manifest = Manifest.read(layout.manifest)
        try:
            noted = json.loads((folder / MANIFEST).read_bytes())
            files = describe_files(folder)
        except (OSError, ValueError):
            return None
        files.pop(MANIFEST, None)
        wanted = {"state": state, "version": manifest.version, "files": files}
        return cls(folder, layout, manifest) if noted == wanted else None


class Carried:
    """Data from the previous build, and data for the next; empty by default.

    `copy` copies documents of the previous index. `document_numbers` (n,) and `chunk_numbers` (m,)
    map the documents and chunks of the previous index to numbers in the new one; -1 for those that
    are not copied.
    """

    def __init__(self, begun: Path | None = None, before: _Before | None = None) -> None:
        self._begun, self._before = begun, before
        self._tables: dict[str, Table] = {}
        self.document_numbers = np.full(before.manifest.documents if before else 0, -1)
        self.chunk_numbers = np.full(before.manifest.chunks if before else 0, -1)

    @property
    def index(self) -> IndexLayout | None:
        """The files of the previous index, if anything is copied from it."""
        return self._before and self._before.layout

    @property
    def manifest(self) -> Manifest:
        """The manifest of the previous index."""
        assert self._before is not None
        return self._before.manifest

    def table(self, name: str, kinds: str, *, has_texts: bool = False) -> Table:
        """Create the table of this name, with a row per document; `kinds` are as in `Rows`."""
        before = None if self._before is None else self._before.folder / name
        table = self._tables[name] = Table(kinds, before, has_texts=has_texts)
        return table

    def rows(self, name: str, kind: str) -> StoredRows:
        """Return rows from the previous build by name; empty if there are none."""
        if self._before is None:
            return Rows(kind).stored()
        return StoredRows.open(self._before.folder / name)

    def array(self, name: str) -> NDArray[Any] | None:
        """Return an array from the previous build by name, if there is one."""
        if self._before is None or not (path := self._before.folder / f"{name}.npy").exists():
            return None
        return open_stored(path)

    def path(self, name: str) -> Path | None:
        """Return where to write an array for the next build; None if no data is kept."""
        return None if self._begun is None else self._begun / f"{name}.npy"

    def leave(self, name: str, left: NDArray[Any] | StoredRows) -> None:
        """Store an array, or rows, for the next build."""
        if self._begun is None:
            return
        if isinstance(left, StoredRows):
            left.write(self._begun / name)
        else:
            write_array(self._begun / f"{name}.npy", left)

    @cached_property
    def chunk_records(self) -> StoredRecords:
        """The records of the chunks of the previous index."""
        layout = self._require_index()
        return StoredRecords.open(layout.chunks, layout.chunk_offsets, layout.chunk_ids)

    @cached_property
    def document_records(self) -> StoredRecords:
        """The records of the documents of the previous index."""
        layout = self._require_index()
        return StoredRecords.open(layout.documents, layout.document_offsets, layout.document_ids)

    @cached_property
    def vectors(self) -> tuple[NDArray[np.int8], NDArray[np.float32]] | None:
        """The vectors (n, d) of the previous index, with scales (n,).

        None unless they come from the built-in table.
        """
        dense = self.manifest.dense
        if dense is None or dense["provider"] != "static":
            return None
        layout = self._require_index()
        return open_stored(layout.vectors), open_stored(layout.vector_scales)

    @cached_property
    def _document_chunks(self) -> NDArray[np.uint64]:
        return open_stored(self._require_index().document_chunks)

    def copy(
        self, documents: Span[PreviousDocument], start: DocumentNumber, chunk_start: int
    ) -> Span[PreviousChunk]:
        """Copy the rows of documents in all tables; return the documents' chunks.

        Documents are in the order of the previous index; `start` and `chunk_start` are the new
        numbers of the first document and its first chunk.
        """
        first, last = documents
        for table in self._tables.values():
            table.copy(first, last)
        chunks = Span(*map(PreviousChunk, self._document_chunks[[first, last]].tolist()))
        self.document_numbers[first:last] = np.arange(last - first) + start
        self.chunk_numbers[slice(*chunks)] = np.arange(chunks.last - chunks.first) + chunk_start
        return chunks

    def chunks_left_out(self) -> Iterator[ChunkRecord]:
        """Yield the previous index's chunks that were not copied; call it after all copying."""
        for number in np.flatnonzero(self.chunk_numbers < 0).tolist():
            line = b"".join(self.chunk_records.blocks(number, number + 1))
            yield make_record(ChunkRecord, json.loads(line))

    def finish(self, folder: Path, state: str, version: str) -> None:
        """Replace the data in `folder` with the data for the next build.

        The new data is valid for the next build of this `state`, if this build has published
        `version`.
        """
        assert self._begun is not None
        for name, table in self._tables.items():
            table.write(self._begun / name)
        described = {"state": state, "version": version, "files": describe_files(self._begun)}
        (self._begun / MANIFEST).write_bytes(encode_json(described))
        shutil.rmtree(folder, ignore_errors=True)
        self._begun.rename(folder)

    def _require_index(self) -> IndexLayout:
        assert self._before is not None
        return self._before.layout


@contextmanager
def carrying(folder: Path, state: str, index: Path | None) -> Iterator[Carried]:
    """Open the data in `folder` for a build.

    The data is used if it belongs to the verified previous `index` and to this `state`. New data is
    deleted at the end, unless `finish` has moved it into `folder`.
    """
    begun = folder.with_suffix(".tmp")
    shutil.rmtree(begun, ignore_errors=True)
    begun.mkdir()
    try:
        yield Carried(begun, _Before.open(folder, state, index) if index else None)
    finally:
        shutil.rmtree(begun, ignore_errors=True)
