"""An opened index, mapped from disk with the lanes that search it, and the one that is served."""

import hashlib
import json
import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..errors import IndexUnusableError, cause_of
from ..index.protocols import QueryEncoder, TermLane, VectorLane
from .layout import IndexFiles, open_array, open_bytes, resolve_version
from .records import ChunkRecord, Place
from .tokens import Tokenizer

PACKAGED_INDEX = Path(__file__).parents[1] / "data"

Row = tuple[int, Mapping[str, Any]]  # The number of a record, and fields to add to its own.
Made = TypeVar("Made")
Part = TypeVar("Part")

_logger = logging.getLogger(__name__)


def hash_key(text: str) -> int:
    """Return the 64-bit key under which an id is looked up."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")


def make_record(make: Callable[..., Made], stored: Mapping[str, Any], **more: Any) -> Made:
    """Call `make` with the fields of a line of the index, and `more` of them."""
    copies = [Place(**copy) for copy in stored["also_at"]]
    return make(**{**stored, **more, "also_at": copies})


decode = json.JSONDecoder().raw_decode  # json.loads takes twice as long.


class RecordLines:
    """Records as lines of JSON, found by number or by the hash of their id."""

    def __init__(self, path: Path, offsets: Path, ids: Path, count: int) -> None:
        """Map the files of `count` records; see `IndexLayout`. Raises IndexUnusableError."""
        self._path = path
        self._offsets = open_array(offsets, np.uint64, (count + 1,))
        self._keys, self._numbers = open_array(ids, np.uint64, (2, -1))
        self._bytes = open_bytes(path, int(self._offsets[-1]))

    def read(self, number: int, make: Callable[..., Made], **more: Any) -> Made:
        """Return a record, made by `make_record`. Raises IndexUnusableError."""
        try:
            start, end = self._offsets[number : number + 2].tolist()
            return make_record(make, decode(str(self._bytes[start:end], "utf-8"))[0], **more)
        except (ValueError, LookupError, OverflowError, TypeError, AttributeError) as error:
            raise IndexUnusableError(f"{self._path}: record {number}: {cause_of(error)}") from None

    def each(self, make: Callable[..., Made], rows: Iterable[Row]) -> Iterator[Made]:
        """Yield the record of each row, with the fields that it adds, reading it when due."""
        return (self.read(number, make, **more) for number, more in rows)

    def numbers(self, identifier: str) -> list[int]:
        """Return the numbers of the records whose ids have the hash of this one, ascending."""
        key = np.uint64(hash_key(identifier))
        first, last = (np.searchsorted(self._keys, key, side) for side in ("left", "right"))
        return [*map(int, self._numbers[first:last])]


class Index:
    """One published version of an index. Immutable, and safe to share between threads."""

    kinds: ClassVar[list[Callable[["Index"], object]]] = []  # See `opened_with_index`.
    open_lines: Callable[[Path, Path, Path, int], RecordLines] = RecordLines
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
        """Map the chunks of `files`. Raises IndexUnusableError."""
        self.layout, self.manifest = layout, manifest = files.layout, files.manifest
        self.version = manifest.version
        self.chunk_count = manifest.chunks
        self.document_count = manifest.documents
        self._files = files
        self.tokenizer = Tokenizer(manifest.language)
        self.keyword_lane = keyword_lane
        if dense_lane is not None and encoder is not None:
            self.dense_lane, self.encoder = dense_lane, encoder
        paths = layout.chunks, layout.chunk_offsets, layout.chunk_ids
        self.chunk_lines = self.open_lines(*paths, manifest.chunks)
        self._parts: dict[object, Any] = {}
        for kind in self.kinds:
            self.part(kind)

    @classmethod
    def open(cls, directory: Path, *parts: Callable[[IndexFiles], Any]) -> "Index":
        """Open an index with the lanes and the encoder of `parts`. Raises IndexUnusableError."""
        while True:
            version = resolve_version(directory)
            try:
                files = IndexFiles.open(version)
                return cls(files, *(open_part(files) for open_part in parts))
            except IndexUnusableError:
                # Builds may have replaced and removed it meanwhile.
                if resolve_version(directory) == version:
                    raise

    def part(self, kind: Callable[["Index"], Part]) -> Part:
        """Return a part that not every server has, such as its filters."""
        if kind not in self._parts:
            self._parts[kind] = kind(self)
        part: Part = self._parts[kind]
        return part

    def verify(self) -> list[str]:
        """Compare every file with its hash in the manifest; return the findings."""
        return self._files.verify()

    def chunk(self, number: int) -> ChunkRecord:
        """Return the chunk with a number from 0 to `chunk_count` - 1."""
        return self.chunk_lines.read(number, ChunkRecord)

    def chunks(self, numbers: Iterable[int]) -> Iterator[ChunkRecord]:
        """Yield chunks by their numbers, reading each when it is due."""
        return self.chunk_lines.each(ChunkRecord, ((number, {}) for number in numbers))

    def best_chunks(self, terms: Sequence[str], count: int) -> Iterator[ChunkRecord]:
        """Yield the `count` best chunks for terms, by keywords, reading each when it is due."""
        return self.chunks(self.keyword_lane.search(terms, count).chunks.tolist())

    def find_chunk(self, chunk_id: str) -> ChunkRecord | None:
        """Return the chunk with this id, if there is one."""
        chunks = self.chunks(self.chunk_lines.numbers(chunk_id))
        return next((chunk for chunk in chunks if chunk.id == chunk_id), None)


def opened_with_index(kind: type[Part]) -> type[Part]:
    """Open this part with every index, so that it stays readable once the files are removed."""
    Index.kinds.append(kind)
    return kind


@dataclass(frozen=True, slots=True)
class ServedState:
    """The state of the served index: damaged files, or a problem for clients to see."""

    verified: bool = False
    problem: str | None = None
    damage: tuple[str, ...] = ()


class Served:
    """The index that a process answers from; nothing is answered once a file proves damaged."""

    def __init__(self, open_index: Callable[[Path], Index]) -> None:
        self.open_index = open_index
        self.state = ServedState()
        self.directory = PACKAGED_INDEX
        self._index: Index | None = None
        self._lock = threading.RLock()

    def load(self, index_dir: str | Path | None = None, *, verify: bool = True) -> Index:
        """Serve an index, by default that of INDEX_DIR or of this package, or raise."""
        directory = Path(index_dir or os.environ.get("INDEX_DIR") or PACKAGED_INDEX)
        index = self.open_index(directory)
        with self._lock:
            self.directory, self._index, self.state = directory, index, ServedState()
        if verify:
            self.verify_meanwhile()
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
        return index

    def verify_meanwhile(self) -> None:
        """Verify the served index in a thread."""
        threading.Thread(target=self.verify, name="verify", daemon=True).start()

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
        if findings and self.is_replaced(index):
            # Builds remove old versions; what is mapped of them answers until they are reloaded.
            return
        if findings:
            _logger.error("the index is damaged: %s", "; ".join(findings))
        with self._lock:
            if self._index is index:
                self.state = replace(self.state, verified=not findings, damage=tuple(findings))

    def is_replaced(self, index: Index) -> bool:
        """Return whether another version has been published since an index was opened."""
        try:
            return resolve_version(self.directory) != index.layout.root
        except IndexUnusableError:
            return False

    def replace(self, index: Index) -> None:
        """Answer from an index whose files have been verified."""
        with self._lock:
            self._index, self.state = index, ServedState(verified=True)

    def report(self, problem: str) -> None:
        """Report a problem with the index published last; the served one stays."""
        with self._lock:
            self.state = replace(self.state, problem=problem)


def _open_index(directory: Path) -> Index:
    # `opening` is rendered, and imports the lanes, which import this module.
    index: Index = import_module("..opening", __package__).open_index(directory)
    return index


served = Served(_open_index)
"""The one index that this process answers from; `opening` says how it is opened."""

load = served.load
current_index = served.current
