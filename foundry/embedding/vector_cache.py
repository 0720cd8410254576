"""Vectors on disk by text, so that nothing is embedded twice, whenever a build was interrupted.

One SQLite file. A space holds the vectors of one model asked in one way; within it a vector is
found by the SHA-256 of its text. Each carries a checksum: one that was damaged on disk is simply
not there. A file that SQLite cannot read is set aside.
"""

import hashlib
import sqlite3
import zlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundry.storage.sqlite import SqliteFile

Vectors = NDArray[np.float32]

TEXTS_AT_ONCE = 512

_SCHEMA = """
CREATE TABLE IF NOT EXISTS embedding_spaces (
    id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, probe BLOB
);
CREATE TABLE IF NOT EXISTS embeddings (
    space INTEGER NOT NULL, key BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (space, key)
) WITHOUT ROWID;
"""


class VectorCache:
    """One file of vectors; for one thread.

    Raises:
        BuildError: When the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._file = SqliteFile(
            path,
            _SCHEMA,
            what="the cache of vectors",
            loss="texts are embedded anew",
            is_kept=True,
        )

    def space(self, identity: str) -> "VectorSpace":
        """Return the vectors of one model asked in one way, whatever `identity` says about both."""
        return VectorSpace(self, identity)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def guarded(self) -> AbstractContextManager[sqlite3.Connection]:
        """Return the connection; a damaged file is set aside, and a failure says which file it
        is of."""
        return self._file.guarded()


class VectorSpace:
    """The vectors of one model asked in one way."""

    def __init__(self, cache: VectorCache, identity: str) -> None:
        self._cache = cache
        self._identity = identity

    @property
    def dimensions(self) -> int | None:
        """Width of the vectors that are kept; None if there are none."""
        with self._cache.guarded() as connection:
            rows = connection.execute(
                "SELECT key, vector FROM embeddings WHERE space = ?", (self._id(connection),)
            )
            for key, content in rows:
                vector = _unpack(key, content)
                if vector is not None:
                    return len(vector)
        return None

    @property
    def probe(self) -> Vectors | None:
        """The vector (d,) that the model gave for a known text when it was first asked."""
        with self._cache.guarded() as connection:
            row = connection.execute(
                "SELECT probe FROM embedding_spaces WHERE identity = ?", (self._identity,)
            ).fetchone()
            return _unpack(b"", row[0]) if row and row[0] else None
        return None

    def keep_probe(self, vector: Vectors) -> None:
        """Keep the vector (d,) of a known text."""
        with self._cache.guarded() as connection, connection:
            connection.execute(
                "UPDATE embedding_spaces SET probe = ? WHERE id = ?",
                (_pack(b"", vector), self._id(connection)),
            )

    def find(self, texts: Sequence[str]) -> list[Vectors | None]:
        """Return the vector (d,) of each text; None where there is none."""
        found: list[Vectors | None] = []
        with self._cache.guarded() as connection:
            space = self._id(connection)
            for text in texts:
                key = _key(text)
                row = connection.execute(
                    "SELECT vector FROM embeddings WHERE space = ? AND key = ?", (space, key)
                ).fetchone()
                found.append(None if row is None else _unpack(key, row[0]))
        # Where the file turned out to be damaged, the rest is not there.
        return found + [None] * (len(texts) - len(found))

    def store(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep the vectors (len(texts), d) exactly; they survive the process from here on."""
        rows = []
        for text, vector in zip(texts, vectors, strict=True):
            key = _key(text)
            rows.append((key, _pack(key, vector)))
        # A file that turns out to be damaged has been replaced by a new one the second time.
        for _ in range(2):
            with self._cache.guarded() as connection, connection:
                space = self._id(connection)
                connection.executemany(
                    "INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?)",
                    [(space, key, content) for key, content in rows],
                )
                return

    def embed(
        self,
        texts: Sequence[str],
        embed: Callable[[Sequence[str]], Vectors],
        progress: Callable[[int, int], object] | None = None,
    ) -> Vectors:
        """Vectors (len(texts), d), computed by `embed` where none is kept.

        Args:
            texts: Any number of texts, at least one.
            embed: The model.
            progress: Called with the number of texts computed and how many there are to compute.
        """
        vectors = dict(zip(texts, self.find(texts), strict=True))
        missing = [text for text, vector in vectors.items() if vector is None]
        for start in range(0, len(missing), TEXTS_AT_ONCE):
            part = missing[start : start + TEXTS_AT_ONCE]
            computed = embed(part)
            self.store(part, computed)
            vectors.update(zip(part, computed, strict=True))
            if progress is not None:
                progress(start + len(part), len(missing))
        return np.array([vectors[text] for text in texts], dtype=np.float32)

    def _id(self, connection: sqlite3.Connection) -> int:
        # Asked for each time: a damaged file may have been replaced by a new one meanwhile.
        query = "SELECT id FROM embedding_spaces WHERE identity = ?"
        row = connection.execute(query, (self._identity,)).fetchone()
        if row is None:
            with connection:
                connection.execute(
                    "INSERT INTO embedding_spaces (identity) VALUES (?)", (self._identity,)
                )
            row = connection.execute(query, (self._identity,)).fetchone()
        return int(row[0])


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).digest()


def _pack(key: bytes, vector: Vectors) -> bytes:
    content = np.ascontiguousarray(vector, dtype="<f4").tobytes()
    return content + zlib.crc32(key + content).to_bytes(4, "little")


def _unpack(key: bytes, packed: object) -> Vectors | None:
    """Return the vector (d,), if its checksum holds."""
    if not isinstance(packed, bytes) or len(packed) < 8 or len(packed) % 4:
        return None
    content = packed[:-4]
    if zlib.crc32(key + content).to_bytes(4, "little") != packed[-4:]:
        return None
    return np.frombuffer(content, dtype="<f4").astype(np.float32)
