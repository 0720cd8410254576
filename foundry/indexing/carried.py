"""What a build leaves for the next one, which takes over what has not changed.

An index does not hold all that its successor has to know: how often a term stands in a chunk, what
a link asks for, which inputs gave which document. That lies in a folder of its own, beside the
index and never part of it.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.files import encode_json, hash_files, split
from foundry.indexing.record_file import StoredRecords
from foundry.indexing.rows import StoredRows, open_stored
from foundry.runtime.index.layout import IndexLayout, Manifest


class CarriedLayout:
    """The files of what is carried over under `root`.

    n chunks, m documents and p postings of the index, k pieces of the built-in encoder. Rows have
    their offsets (rows + 1,) in a file beside their columns; texts are uint8.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.manifest = root / "carried.json"  # What it belongs to, sizes and hashes of the others.
        self.posting_counts = root / "postings.counts.npy"  # uint32 (p,)
        self.chunk_lengths = root / "chunks.lengths.npy"  # uint32 (n,): BM25's
        self.piece_counts = root / "pieces.npy"  # int64 (k,): chunks that have the piece
        # Rows by document: what its links ask for, first and otherwise; what links may ask for it
        # by; see `links`.
        self.link_offsets = root / "links.offsets.npy"
        self.link_keys = root / "links.keys.npy"  # uint64
        self.link_others = root / "links.others.npy"  # uint64
        self.address_offsets = root / "addresses.offsets.npy"
        self.addresses = root / "addresses.npy"  # uint64
        # Rows by document: the headings by which it is found; see `headings`.
        self.heading_offsets = root / "headings.offsets.npy"
        self.heading_keys = root / "headings.keys.npy"  # uint64
        self.heading_chunks = root / "headings.chunks.npy"  # uint32: which chunk of the document
        self.heading_terms = root / "headings.terms.npy"  # uint32: numbers in the vocabulary
        self.heading_kinds = root / "headings.kinds.npy"  # uint32
        self.heading_text_offsets = root / "headings.texts.offsets.npy"
        self.heading_texts = root / "headings.texts.npy"  # Rows by heading.
        # Rows by input: see `build.carrying`.
        self.input_columns = root / "inputs.npy"
        self.input_signature_offsets = root / "inputs.signatures.offsets.npy"
        self.input_signatures = root / "inputs.signatures.npy"
        self.input_remark_offsets = root / "inputs.remarks.offsets.npy"
        self.input_remarks = root / "inputs.remarks.npy"


@dataclass(frozen=True, slots=True)
class Previous:
    """A published index, and what its build has left for the next."""

    index: IndexLayout
    carried: CarriedLayout
    manifest: Manifest
    document_chunks: NDArray[np.uint64]

    @classmethod
    def open(cls, index: Path, manifest: Manifest, carried: Path, state: str) -> Self | None:
        """Open an index that is known to be intact; `state` is that of the build to come.

        None if nothing was left by a build of this index in the same state, or not all of it.
        """
        left, layout = CarriedLayout(carried), IndexLayout(index)
        try:
            noted = json.loads(left.manifest.read_bytes())
            files = hash_files(carried)
            del files[left.manifest.name]
            if noted != _describe(state, manifest.version, files):
                return None
            return cls(layout, left, manifest, open_stored(layout.document_chunks))
        except (OSError, ValueError, LookupError):
            return None

    def chunks_of(self, first: int, last: int) -> tuple[int, int]:
        """Return the first chunk of the documents from `first` to `last`, and the one after all."""
        start, end = self.document_chunks[[first, last]].tolist()
        return start, end

    def vocabulary(self) -> list[bytes]:
        """Return the sorted terms."""
        return split(self.index.terms.read_bytes(), open_stored(self.index.term_offsets))

    @property
    def has_own_vectors(self) -> bool:
        """Whether its vectors are those that documents bring with them: of the built-in table."""
        return self.manifest.dense is not None and self.manifest.dense["provider"] == "static"

    def links(self) -> StoredRows:
        """Open what links ask for."""
        left = self.carried
        return StoredRows.open(left.link_offsets, left.link_keys, left.link_others)

    def addresses(self) -> StoredRows:
        """Open what documents are asked for by."""
        return StoredRows.open(self.carried.address_offsets, self.carried.addresses)


def _describe(state: str, version: str, files: dict[str, dict[str, int | str]]) -> dict[str, Any]:
    return {"state": state, "version": version, "files": files}


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
    """Put what a build has `written` in the place `folder` of what was left before."""
    described = _describe(state, version, hash_files(written))
    CarriedLayout(written).manifest.write_bytes(encode_json(described))
    shutil.rmtree(folder, ignore_errors=True)
    written.rename(folder)


class Renumbering:
    """Which numbers of the previous index have which in the next: spans that are taken over."""

    def __init__(self) -> None:
        self._spans: list[tuple[int, int, int]] = []

    def add(self, first: int, last: int, start: int) -> None:
        """Let the numbers from `first` to `last` become those from `start` on."""
        self._spans.append((first, last, start))

    def numbers(self, count: int) -> NDArray[np.int64]:
        """Return the new number of each of `count`; -1 for what is left out."""
        numbers = np.full(count, -1, dtype=np.int64)
        for first, last, start in self._spans:
            numbers[first:last] = np.arange(start, start + last - first)
        return numbers


class Carrying:
    """What of a previous index is taken over, and its files as far as they are copied in spans."""

    def __init__(self, previous: Previous) -> None:
        self.previous = previous
        self.documents, self.chunks = Renumbering(), Renumbering()
        layout = previous.index
        self.chunk_records = StoredRecords.open(
            layout.chunks, layout.chunk_offsets, layout.chunk_ids
        )
        self.document_records = StoredRecords.open(
            layout.documents, layout.document_offsets, layout.document_ids
        )
        self.vectors: tuple[NDArray[np.int8], NDArray[np.float32]] | None = None
        if previous.has_own_vectors:
            self.vectors = open_stored(layout.vectors), open_stored(layout.vector_scales)

    def renumbered(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the new numbers of all documents and chunks; -1 for what is left out."""
        manifest = self.previous.manifest
        return self.documents.numbers(manifest.documents), self.chunks.numbers(manifest.chunks)

    def texts_left_out(self) -> Iterator[str]:
        """Yield the texts of the chunks that are not taken over."""
        _, chunks = self.renumbered()
        records = self.chunk_records
        for number in np.flatnonzero(chunks < 0).tolist():
            start, end = records.offsets[number : number + 2].tolist()
            yield json.loads(bytes(records.content[start:end]))["text"]
