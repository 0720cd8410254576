"""Records of chunks and documents stored in an engine: texts, titles, places.

The server has the hashes of their ids. Records are read by the keys of chunks, up to READ_AT_ONCE
in one exchange.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexUnusableError, cause_of
from ..index.layout import IndexFiles, open_array
from ..index.lines import RecordLines, decode, make_record
from ..index.protocols import LaneHits, Made, QueryEncoder, Row
from ..index.reader import OpenedIndex
from ..index.records import ChunkRecord
from .lanes import StoredDenseLane, StoredKeywordLane
from .settings import StoreSettings
from .store import HELD_FILES, RECORD_FILES, Edition, Engine, Store, open_store

READ_AT_ONCE = 256


class RecordEngine(Engine, Protocol):
    """An engine that also stores records."""

    def read_records(
        self, edition: Edition, chunks: NDArray[np.int64], *, of_documents: bool
    ) -> list[bytes]:
        """Return the JSON lines of chunks (m,), or of the documents that begin with them."""
        ...

    def find_records(
        self, edition: Edition, terms: Sequence[tuple[int, int]], count: int
    ) -> tuple[LaneHits, list[bytes]]:
        """Return the hits of `search_terms`, with the JSON lines of their chunks."""
        ...


class StoredLines(RecordLines):
    """Records stored as JSON lines in an engine, looked up by number or by the hash of their id."""

    def __init__(self, store: Store, ids: Path, firsts: NDArray[np.uint64] | None) -> None:
        """Memory-map the hashes of ids. For documents, `firsts` (m + 1,) are their first chunks.

        Raises IndexUnusableError.
        """
        self._store, self._firsts = store, firsts
        self._keys, self._numbers = open_array(ids, np.uint64, (2, -1))

    def read(self, number: int, make: Callable[..., Made], **more: Any) -> Made:
        """Return a record made by `make`. Raises StoreError and IndexUnusableError."""
        return next(self.each(make, [(number, more)]))

    def each(self, make: Callable[..., Made], rows: Iterable[Row]) -> Iterator[Made]:
        """Yield the record of each row, merged with the row's extra fields.

        Reads READ_AT_ONCE at a time. Raises StoreError, IndexUnusableError.
        """
        left = iter(rows)
        while block := [*islice(left, READ_AT_ONCE)]:
            lines = self._ask(np.array([number for number, _ in block], dtype=np.int64))
            for line, (number, more) in zip(lines, block, strict=True):
                yield _made(number, line, make, **more)

    def _ask(self, numbers: NDArray[np.int64]) -> list[bytes]:
        of_documents = self._firsts is not None
        chunks = numbers if self._firsts is None else self._firsts[numbers].astype(np.int64)
        return self._store.ask(
            lambda engine, edition: cast(RecordEngine, engine).read_records(
                edition, chunks, of_documents=of_documents
            )
        )


def _made(number: int, line: bytes, make: Callable[..., Made], **more: Any) -> Made:
    try:
        return make_record(make, decode(str(line, "utf-8"))[0], **more)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise IndexUnusableError(f"the engine: record {number}: {cause_of(error)}") from None


class StoredIndex(OpenedIndex):
    """An index whose lanes and records are stored in an engine."""

    def __init__(
        self,
        files: IndexFiles,
        store: Store,
        encoder: QueryEncoder,
        *,
        parts: Iterable[Callable[[OpenedIndex], object]] = (),
    ) -> None:
        """Memory-map the server's local files. Raises IndexUnusableError."""
        layout = files.layout

        def open_lines(path: Path, _offsets: Path, ids: Path, count: int) -> StoredLines:
            if path == layout.chunks:
                return StoredLines(store, ids, None)
            firsts = open_array(layout.document_chunks, np.uint64, (count + 1,))
            return StoredLines(store, ids, firsts)

        self.open_lines = open_lines
        self._store, self._keywords = store, StoredKeywordLane(files, store)
        super().__init__(files, self._keywords, StoredDenseLane(files, store), encoder, parts=parts)

    def best_chunks(self, terms: Sequence[str], count: int) -> Iterator[ChunkRecord]:
        """Yield up to `count` chunks, the best for terms, usually with a single exchange.

        Raises StoreError, and IndexUnusableError for a damaged record.
        """
        if not (asked := self._keywords.numbers(terms)):
            return
        hits, lines = self._store.ask(
            lambda engine, edition: cast(RecordEngine, engine).find_records(edition, asked, count)
        )
        self._keywords.checked(hits, asked, count, None)
        for number, line in zip(hits.chunks.tolist(), lines, strict=True):
            yield _made(number, line, ChunkRecord)


def open_stored(
    directory: Path,
    *,
    open_engine: Callable[[StoreSettings], Engine],
    open_encoder: Callable[[IndexFiles], QueryEncoder],
    parts: Iterable[Callable[[OpenedIndex], object]] = (),
) -> OpenedIndex:
    """Open an index whose lanes and records are stored in an engine. Raises IndexUnusableError."""
    files = IndexFiles.open(directory, HELD_FILES | RECORD_FILES)
    store = open_store(files, open_engine)
    return StoredIndex(files, store, open_encoder(files), parts=parts)
