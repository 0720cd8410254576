"""Prepared documents on disk, by source and key, from build to build.

One SQLite file, committed every moment, so that a build that was stopped goes on where it ended. A
damaged file is removed: everything in it can be made again.
"""

import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from foundry.build.deduplication.signature import Signature
from foundry.build.preparing.wire import decode, decode_signature
from foundry.prepared import PreparedDocument
from foundry.records import Skipped, Stamp
from foundry.storage.sqlite import SqliteFile

CACHE_NAME = "documents.sqlite"
Parsed = TypeVar("Parsed")

COMMIT_SECONDS = 1.0
FORMAT = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, key BLOB NOT NULL, recipe TEXT NOT NULL,
    origin TEXT NOT NULL, content BLOB NOT NULL, stamp TEXT, UNIQUE (source, key)
);
CREATE TABLE IF NOT EXISTS prepared (
    id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, result BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS tables (
    source TEXT PRIMARY KEY, origin TEXT NOT NULL, stamp TEXT NOT NULL, inputs BLOB NOT NULL,
    documents INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS published (id INTEGER PRIMARY KEY, state TEXT NOT NULL);
"""


class CacheDamagedError(Exception):
    """The cache was damaged and has been replaced by an empty one; the build begins again."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a document was prepared by and from.

    Attributes:
        recipe: Key of the recipe; empty for a result that is not to be used again.
        origin: Key of the source's options.
        content: SHA-256 of what the source delivered.
        stamp: Of its file, where that tells whether it has changed.
    """

    recipe: str
    origin: str
    content: bytes
    stamp: str | None


@dataclass(frozen=True, slots=True)
class Known:
    """A document in the cache, by its number."""

    number: int
    entry: Entry


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A source that is one file, as it was read last; `inputs` is the digest of its documents."""

    origin: str
    stamp: str | None
    inputs: bytes
    documents: int


class DocumentCache:
    """One file of prepared documents; for one thread.

    With `keeps_nothing` all changes are gone in the end. Raises BuildError when the file cannot be
    used, and CacheDamagedError when it is damaged.
    """

    def __init__(self, path: Path, *, keeps_nothing: bool = False) -> None:
        self._file = SqliteFile(
            path,
            _SCHEMA,
            what="the cache of documents",
            loss="documents are prepared anew",
            is_kept=False,
        )
        self._keeps_nothing = keeps_nothing
        self._committed = time.monotonic()
        with self._guarded() as connection:
            (found,) = connection.execute("PRAGMA user_version").fetchone()
            if found not in {0, FORMAT}:
                self._file.clear()
        with self._guarded() as connection:
            if found != FORMAT:
                connection.execute(f"PRAGMA user_version = {FORMAT}")
                connection.commit()

    def close(self) -> None:
        """Close the file; what was stored until now is kept."""
        self.commit()
        self._file.close()

    def clear(self) -> None:
        """Forget everything."""
        with self._changing() as connection:
            for table in ("documents", "prepared", "tables", "published"):
                connection.execute(f"DELETE FROM {table}")

    def commit(self) -> None:
        """From here on, what was stored survives the process."""
        if not self._keeps_nothing:
            with self._guarded() as connection:
                connection.commit()
        self._committed = time.monotonic()

    def find(self, source: str, key: str) -> Known | None:
        """Return the document of a source with this key, if there is one."""
        with self._guarded() as connection:
            row = connection.execute(
                "SELECT id, recipe, origin, content, stamp FROM documents"
                " WHERE source = ? AND key = ?",
                (source, _to_bytes(key)),
            ).fetchone()
        return None if row is None else Known(row[0], Entry(*row[1:]))

    def store(self, source: str, key: str, entry: Entry, result: bytes) -> int:
        """Keep a result under a new number, which replaces an older one; returns the number."""
        with self._changing() as connection:
            name = (source, _to_bytes(key))
            old = connection.execute(
                "DELETE FROM documents WHERE source = ? AND key = ? RETURNING id", name
            ).fetchall()
            connection.executemany("DELETE FROM prepared WHERE id = ?", old)
            number = connection.execute(
                "INSERT INTO documents (source, key, recipe, origin, content, stamp)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (*name, entry.recipe, entry.origin, entry.content, entry.stamp),
            ).lastrowid
            connection.execute(
                "INSERT INTO prepared VALUES (?, ?, ?)", (number, zlib.crc32(result), result)
            )
        assert number is not None
        return number

    def restamp(self, number: int, entry: Entry) -> None:
        """Note under which stamp, and from which source options, a document is unchanged."""
        with self._changing() as connection:
            connection.execute(
                "UPDATE documents SET origin = ?, stamp = ? WHERE id = ?",
                (entry.origin, entry.stamp, number),
            )

    def load(self, number: int) -> PreparedDocument | Skipped:
        """Return the result with this number. Raises CacheDamagedError when it is damaged."""
        return self._parse(number, decode)

    def signature(self, number: int) -> Signature | None:
        """Return the signature of the document with this number; None for one skipped."""
        return self._parse(number, decode_signature)

    def _parse(self, number: int, parse: Callable[[bytes], Parsed]) -> Parsed:
        with self._guarded() as connection:
            row = connection.execute(
                "SELECT checksum, result FROM prepared WHERE id = ?", (number,)
            ).fetchone()
        try:
            if row is None or zlib.crc32(row[1]) != row[0]:
                raise ValueError("a document is not what its checksum says")
            return parse(row[1])
        except (ValueError, TypeError) as error:
            self._file.replace(error)
            raise CacheDamagedError from None

    def others(self, numbers: Iterable[int]) -> list[int]:
        """Return the numbers of all documents but these."""
        kept = set(numbers)
        with self._guarded() as connection:
            rows = connection.execute("SELECT id FROM documents")
            return [number for (number,) in rows if number not in kept]

    def remove(self, numbers: Iterable[int]) -> None:
        """Forget documents."""
        rows = [(number,) for number in numbers]
        with self._changing() as connection:
            connection.executemany("DELETE FROM documents WHERE id = ?", rows)
            connection.executemany("DELETE FROM prepared WHERE id = ?", rows)

    def find_table(self, source: str) -> KnownTable | None:
        """Return what is known of a source that is one file."""
        with self._guarded() as connection:
            row = connection.execute(
                "SELECT origin, stamp, inputs, documents FROM tables WHERE source = ?", (source,)
            ).fetchone()
        return None if row is None else KnownTable(*row)

    def keep_table(self, source: str, table: KnownTable) -> None:
        """Note how a source that is one file was read, if its stamp will last."""
        with self._changing() as connection:
            connection.execute("DELETE FROM tables WHERE source = ?", (source,))
            if table.stamp is not None:
                connection.execute(
                    "INSERT INTO tables VALUES (?, ?, ?, ?, ?)",
                    (source, table.origin, table.stamp, table.inputs, table.documents),
                )

    @property
    def published(self) -> str | None:
        """What was noted with the index that was published last."""
        with self._guarded() as connection:
            row = connection.execute("SELECT state FROM published WHERE id = 1").fetchone()
        return None if row is None else str(row[0])

    def keep_published(self, state: str) -> None:
        """Note what the index that has been published was made from."""
        with self._changing() as connection:
            connection.execute("INSERT OR REPLACE INTO published VALUES (1, ?)", (state,))
        self.commit()

    @contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection]:
        is_whole = False
        with self._file.guarded() as connection:
            yield connection
            is_whole = True
        if not is_whole:
            raise CacheDamagedError

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with self._guarded() as connection:
            yield connection
        if not self._keeps_nothing and time.monotonic() - self._committed >= COMMIT_SECONDS:
            self.commit()


def stamp_text(stamp: Stamp | None) -> str | None:
    """A stamp as the cache keeps it."""
    if stamp is None:
        return None
    return f"{stamp.size} {stamp.modified_ns} {stamp.changed_ns} {stamp.inode}"


def _to_bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogateescape")
