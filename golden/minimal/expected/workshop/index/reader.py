"""An open, memory-mapped index with its lanes, and the one that a process serves."""

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from ..errors import IndexUnusableError
from .layout import PACKAGED_INDEX, IndexFiles, Manifest, resolve_version
from .lines import RecordLines
from .protocols import IndexMetadata, QueryEncoder, Records, TermLane, VectorLane
from .records import ChunkRecord
from .tokens import Tokenizer

Part = TypeVar("Part")

_logger = logging.getLogger(__name__)


class Index:
    """The parts of an index that searches read. Immutable; threads can share one.

    Either a whole index opened from files, or a caller's view of one.
    """

    # Set only if the index has vectors.
    dense_lane: VectorLane
    encoder: QueryEncoder

    def __init__(
        self,
        *,
        version: str,
        manifest: IndexMetadata,
        documents: int,
        chunks: int,
        chunk_lines: Records,
        tokenizer: Tokenizer,
        keyword_lane: TermLane,
        dense_lane: VectorLane | None = None,
        encoder: QueryEncoder | None = None,
    ) -> None:
        """Assemble an index of this many `documents` and `chunks` from its parts."""
        self.version, self.manifest = version, manifest
        self.document_count, self.chunk_count = documents, chunks
        self.chunk_lines = chunk_lines
        self.tokenizer = tokenizer
        self.keyword_lane = keyword_lane
        if dense_lane is not None and encoder is not None:
            self.dense_lane, self.encoder = dense_lane, encoder
        self._parts: dict[object, Any] = {}

    def part(self, kind: "Callable[[OpenedIndex], Part]") -> Part:
        """Return an optional part, such as filters, created on first use."""
        if kind not in self._parts:
            self._parts[kind] = self.make_part(kind)
        part: Part = self._parts[kind]
        return part

    def make_part(self, kind: "Callable[[OpenedIndex], Part]") -> Part:
        """Create a part; each subclass does so in its own way."""
        raise NotImplementedError

    def chunk(self, number: int) -> ChunkRecord:
        """Return a chunk by its number, 0 to `chunk_count` - 1."""
        return self.chunk_lines.read(number, ChunkRecord)

    def chunks(self, numbers: Iterable[int]) -> Iterator[ChunkRecord]:
        """Yield chunks by number, reading each lazily."""
        return self.chunk_lines.each(ChunkRecord, ((number, {}) for number in numbers))

    def best_chunks(self, terms: Sequence[str], count: int) -> Iterator[ChunkRecord]:
        """Lazily yield up to `count` chunks with the best keyword scores for terms, best first."""
        return self.chunks(self.keyword_lane.search(terms, count).chunks.tolist())

    def find_chunk(self, chunk_id: str) -> ChunkRecord | None:
        """Return the chunk with this id, if any."""
        chunks = self.chunks(self.chunk_lines.numbers(chunk_id))
        return next((chunk for chunk in chunks if chunk.id == chunk_id), None)

    def chunk_after(self, chunk: ChunkRecord) -> ChunkRecord | None:
        """Return the next chunk of the same document, if any."""
        for number in self.chunk_lines.numbers(chunk.id):
            own, *after = self.chunks(range(number, min(number + 2, self.chunk_count)))
            if own.id == chunk.id:
                return next((one for one in after if one.document_id == own.document_id), None)
        return None


class OpenedIndex(Index):
    """One published version of an index, mapped from files."""

    manifest: Manifest
    open_lines: Callable[[Path, Path, Path, int], RecordLines] = RecordLines

    def __init__(
        self,
        files: IndexFiles,
        keyword_lane: TermLane,
        dense_lane: VectorLane | None = None,
        encoder: QueryEncoder | None = None,
        *,
        parts: "Iterable[Callable[[OpenedIndex], object]]" = (),
    ) -> None:
        """Memory-map the chunks; open `parts` while the files exist. Raises IndexUnusableError."""
        self.layout, manifest = files.layout, files.manifest
        self._files = files
        paths = self.layout.chunks, self.layout.chunk_offsets, self.layout.chunk_ids
        super().__init__(
            version=manifest.version,
            manifest=manifest,
            documents=manifest.documents,
            chunks=manifest.chunks,
            chunk_lines=self.open_lines(*paths, manifest.chunks),
            tokenizer=Tokenizer(manifest.language),
            keyword_lane=keyword_lane,
            dense_lane=dense_lane,
            encoder=encoder,
        )
        for kind in parts:
            self.part(kind)

    @classmethod
    def open(
        cls,
        directory: Path,
        *lanes: Callable[[IndexFiles], Any],
        parts: "Iterable[Callable[[OpenedIndex], object]]" = (),
    ) -> "OpenedIndex":
        """Open an index with its lanes and optional parts. Raises IndexUnusableError."""
        while True:
            version = resolve_version(directory)
            try:
                files = IndexFiles.open(version)
                return cls(files, *(open_lane(files) for open_lane in lanes), parts=parts)
            except IndexUnusableError:
                # If the version is not current any more, a build has replaced it, and perhaps
                # removed it.
                if resolve_version(directory) == version:
                    raise

    def make_part(self, kind: Callable[["OpenedIndex"], Part]) -> Part:
        """Open a part from the files. Raises IndexUnusableError."""
        return kind(self)

    def verify(self) -> list[str]:
        """Compare every file with its hash in the manifest; return a line for each difference."""
        return self._files.verify()


@dataclass(frozen=True, slots=True)
class ServedState:
    """State of the served index: whether all files match their hashes, and what is wrong."""

    verified: bool = False
    problem: str | None = None
    damage: tuple[str, ...] = ()


class Viewer(Protocol):
    """Selects the view of the index that a caller gets."""

    def prepare(self, index: OpenedIndex) -> None:
        """Open all inputs of views now, since files may be removed. Raises IndexUnusableError."""

    def view(self, index: OpenedIndex) -> Index:
        """Return the view of the current caller."""

    def public(self, index: OpenedIndex) -> Index:
        """Return the view that every caller may see."""


class Served:
    """The index that a process serves; once a file proves damaged, it refuses all requests."""

    viewer: Viewer | None = None

    def __init__(self, opener: Callable[[Path], OpenedIndex] | None = None) -> None:
        self.opener = opener
        self.state = ServedState()
        self.directory = PACKAGED_INDEX
        self._index: OpenedIndex | None = None
        self._lock = threading.RLock()

    def open_index(self, directory: Path) -> OpenedIndex:
        """Open an index for serving. Raises IndexUnusableError."""
        if self.opener is None:
            hint = "import load or search_hybrid from the package itself"
            raise IndexUnusableError(f"{directory}: no function to open it was set", hint=hint)
        index = self.opener(directory)
        if self.viewer is not None:
            self.viewer.prepare(index)
        return index

    def load(self, index_dir: str | Path | None = None, *, verify: bool = True) -> OpenedIndex:
        """Serve an index: `index_dir`, INDEX_DIR, or this package's own.

        Raises IndexUnusableError if it cannot be opened.
        """
        directory = Path(index_dir or os.environ.get("INDEX_DIR") or PACKAGED_INDEX)
        index = self.open_index(directory)
        with self._lock:
            self.directory, self._index, self.state = directory, index, ServedState()
        if verify:
            self.verify_meanwhile()
        return index

    def current(self) -> Index:
        """Return the caller's view of the served index. Raises the same errors as `whole`."""
        index = self.whole()
        if self.viewer is not None:
            return self.viewer.view(index)
        return index

    def public(self) -> Index:
        """Return the view that every caller may see, for results that are computed once."""
        index = self.whole()
        if self.viewer is not None:
            return self.viewer.public(index)
        return index

    def whole(self) -> OpenedIndex:
        """Return the whole index. Raises IndexUnusableError, also if a file was found damaged."""
        index = self._index
        if index is None:
            with self._lock:
                index = self._index or self.load()
        if damaged := "; ".join(self.state.damage):
            reason = f"Files of the index are damaged: {damaged}"
            raise IndexUnusableError(f"{self.directory}: damaged: {damaged}", reason=reason)
        return index

    def verify_meanwhile(self) -> None:
        """Verify the served index in a background thread."""
        threading.Thread(target=self.verify, name="verify", daemon=True).start()

    def verify(self) -> None:
        """Compare every file of the served index with its hash, and record the result."""
        index = self._index
        if index is None:
            return
        try:
            findings = index.verify()
        except Exception as error:
            # Damage can cause any error, and none may end the thread.
            findings = [repr(error)]
        if findings and self.is_replaced(index):
            # A build has removed this version; its mapped files work until the next reload.
            return
        if findings:
            _logger.error("the index is damaged: %s", "; ".join(findings))
        with self._lock:
            if self._index is index:
                self.state = replace(self.state, verified=not findings, damage=tuple(findings))

    def is_replaced(self, index: OpenedIndex) -> bool:
        """Return whether another version was published after this index was opened."""
        try:
            return resolve_version(self.directory) != index.layout.root
        except IndexUnusableError:
            return False

    def replace(self, index: OpenedIndex) -> None:
        """Serve an index that was already verified."""
        with self._lock:
            self._index, self.state = index, ServedState(verified=True)

    def report(self, problem: str) -> None:
        """Report a problem with the latest published index, and keep serving the current one."""
        with self._lock:
            self.state = replace(self.state, problem=problem)


served = Served()
"""The index of this process; the `opening` module opens it."""

load = served.load
current_index = served.current
