"""An opened index, mapped from disk with the lanes that search it, and the one that is served."""

import hashlib
import json
import logging
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..retrieval.candidates import QueryEncoder, TermLane, VectorLane
from ..retrieval.filters import FilterColumns
from ..retrieval.settings import IndexUnusableError
from ..retrieval.tokens import Tokenizer
from .layout import IndexFiles, open_array, open_bytes
from .records import ChunkRecord, DocumentRecord, SourceSummary, join_chunks

PACKAGED_INDEX = Path(__file__).parents[1] / "data"

Made = TypeVar("Made")

_logger = logging.getLogger(__name__)


class Index:
    """One published version of an index. Immutable, and safe to share between threads."""

    # Only of an index that was opened with vectors.
    dense_lane: VectorLane
    encoder: QueryEncoder

    def __init__(
        self,
        files: IndexFiles,
        keyword_lane: TermLane,
        dense_lane: VectorLane | None = None,
        encoder: QueryEncoder | None = None,
    ) -> None:
        """Map the records and filters of `files`. Raises IndexUnusableError."""
        self.layout = layout = files.layout
        self.manifest = manifest = files.manifest
        self.version = manifest.version
        self.chunk_count = chunks = manifest.chunks
        self.document_count = documents = manifest.documents
        self._files = files
        self.tokenizer = Tokenizer(manifest.language)
        self.keyword_lane = keyword_lane
        if dense_lane is not None and encoder is not None:
            self.dense_lane = dense_lane
            self.encoder = encoder
        self.document_chunks = open_array(layout.document_chunks, np.uint64, (documents + 1,))
        document_lengths = np.diff(self.document_chunks).astype(np.int64)
        self.filters = FilterColumns(layout, manifest, document_lengths)
        self._chunks = RecordLines(layout.chunks, layout.chunk_offsets, layout.chunk_ids, chunks)
        self._documents = RecordLines(
            layout.documents, layout.document_offsets, layout.document_ids, documents
        )

    @classmethod
    def open(cls, directory: Path, *parts: Callable[[IndexFiles], Any]) -> "Index":
        """Open an index with the lanes and the encoder of `parts`. Raises IndexUnusableError."""
        files = IndexFiles.open(directory)
        return cls(files, *(open_part(files) for open_part in parts))

    def verify(self) -> list[str]:
        """Compare every file with its hash in the manifest; return the findings."""
        return self._files.verify()

    def chunk(self, number: int) -> ChunkRecord:
        """Return the chunk with a number from 0 to `chunk_count` - 1."""
        return self.read_chunk(number, ChunkRecord.from_json)

    def read_chunk(self, number: int, make: Callable[..., Made], *more: Any) -> Made:
        """Return what `make` makes of the stored values of a chunk, and `more`."""
        return self._chunks.read(number, make, *more)

    def document(self, number: int) -> DocumentRecord:
        """Return the document with a number from 0 to `document_count` - 1."""
        bounds = self.document_chunks[number : number + 2].tolist()
        return self._documents.read(number, DocumentRecord.from_json, *bounds)

    def find_chunk(self, chunk_id: str) -> ChunkRecord | None:
        """Return the chunk with this id, if there is one."""
        chunks = map(self.chunk, self._chunks.numbers(chunk_id))
        return next((chunk for chunk in chunks if chunk.id == chunk_id), None)

    def find_document(self, document_id: str) -> DocumentRecord | None:
        """Return the document with this id or with a copy of this id, if there is one."""
        for found in map(self.document, self._documents.numbers(document_id)):
            if document_id in (found.id, *(place.document_id for place in found.also_at)):
                return found
        return None

    def documents(self, offset: int = 0, limit: int = 100) -> list[DocumentRecord]:
        """Return at most `limit` documents from `offset` on, in the order of the index."""
        return [*map(self.document, range(offset, min(self.document_count, offset + limit)))]

    def chunks_of(
        self, document: DocumentRecord, offset: int = 0, limit: int | None = None
    ) -> list[ChunkRecord]:
        """Return at most `limit` chunks of a document from `offset` on, in order."""
        numbers = range(document.chunk_start, document.chunk_end)[offset:]
        return [*map(self.chunk, numbers if limit is None else numbers[:limit])]

    def place_of(self, document: DocumentRecord, chunk_id: str) -> int | None:
        """Return the number of a document's chunks before this one; None if it is in another."""
        for number in self._chunks.numbers(chunk_id):
            is_inside = document.chunk_start <= number < document.chunk_end
            if is_inside and self.chunk(number).id == chunk_id:
                return number - document.chunk_start
        return None

    def sources(self) -> list[SourceSummary]:
        """Return every source, with the numbers of its documents and chunks."""
        path = self.layout.report
        try:
            return [
                SourceSummary(entry["name"], entry["documents"], entry["chunks"])
                for entry in json.loads(path.read_bytes())["sources"]
            ]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise IndexUnusableError(f"{path}: unreadable: {error!r}") from None


def read_document(index: Index, document: DocumentRecord) -> Iterator[str]:
    """Yield the text of a document, reading each chunk when it is due."""
    return join_chunks(map(index.chunk, range(document.chunk_start, document.chunk_end)))


def hash_key(text: str) -> int:
    """Return the 64-bit key under which an id is looked up."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")


_decode = json.JSONDecoder().raw_decode  # json.loads takes twice as long.


class RecordLines:
    """Records as lines of JSON, found by number or by the hash of their id."""

    def __init__(self, path: Path, offsets: Path, ids: Path, count: int) -> None:
        """Map the files of `count` records; see `IndexLayout`. Raises IndexUnusableError."""
        self._path = path
        self._offsets = open_array(offsets, np.uint64, (count + 1,))
        self._keys, self._numbers = open_array(ids, np.uint64, (2, -1))
        self._bytes = open_bytes(path, int(self._offsets[-1]))

    def read(self, number: int, make: Callable[..., Made], *more: Any) -> Made:
        """Return what `make` makes of a record and `more`; IndexUnusableError where that fails."""
        try:
            start, end = self._offsets[number : number + 2].tolist()
            return make(_decode(str(self._bytes[start:end], "utf-8"))[0], *more)
        except (ValueError, LookupError, OverflowError, TypeError) as error:
            raise IndexUnusableError(f"{self._path}: record {number}: {error!r}") from None

    def numbers(self, identifier: str) -> list[int]:
        """Return the numbers of the records whose ids have the hash of this one, ascending."""
        key = np.uint64(hash_key(identifier))
        first, last = (np.searchsorted(self._keys, key, side) for side in ("left", "right"))
        return [*map(int, self._numbers[first:last])]


@dataclass(frozen=True, slots=True)
class ServedState:
    """The state of the served index: damaged files, or a problem for clients to see."""

    verified: bool = False
    problem: str | None = None
    damage: tuple[str, ...] = ()


class Served:
    """The index that a process answers from; nothing is answered once a file proves damaged."""

    open_index: Callable[[Path], Index]
    view: Callable[[Index], Index] | None = None  # What callers get of the index.

    def __init__(self) -> None:
        self.state = ServedState()
        self.directory = PACKAGED_INDEX
        self._index: Index | None = None
        self._lock = threading.RLock()

    def load(
        self, index_dir: str | os.PathLike[str] | None = None, *, verify: bool = True
    ) -> Index:
        """Serve an index, by default that of INDEX_DIR or of this package, or raise."""
        directory = Path(index_dir or os.environ.get("INDEX_DIR") or PACKAGED_INDEX)
        index = self.open_index(directory)
        with self._lock:
            self.directory, self._index, self.state = directory, index, ServedState()
        if verify:
            threading.Thread(target=self.verify, name="verify", daemon=True).start()
        return index

    def current(self) -> Index:
        """Return the served index. Raises IndexUnusableError, also once a file proves damaged."""
        index = self._index
        if index is None:
            with self._lock:
                index = self._index or self.load()
        if damaged := "; ".join(self.state.damage):
            reason = f"Files of the index are damaged: {damaged}"
            raise IndexUnusableError(f"{self.directory}: damaged: {damaged}", reason=reason)
        return self.view(index) if self.view else index

    def verify(self) -> None:
        """Compare every file of the served index with its hash."""
        index = self._index
        if index is None:
            return
        try:
            findings = index.verify()
        except Exception as error:
            # Damage may show in ways that nobody has foreseen, and must not end the thread.
            findings = [repr(error)]
        if findings:
            _logger.error("the index is damaged: %s", "; ".join(findings))
        with self._lock:
            if self._index is index:
                self.state = replace(self.state, verified=not findings, damage=tuple(findings))

    def replace(self, index: Index) -> None:
        """Answer from an index whose files have been verified."""
        with self._lock:
            self._index, self.state = index, ServedState(verified=True)

    def report(self, problem: str) -> None:
        """Show a problem of what was published last; the served index stays."""
        with self._lock:
            self.state = replace(self.state, problem=problem)


served = Served()
"""The one index that this process answers from; `search` says how it is opened."""

load = served.load
current_index = served.current
