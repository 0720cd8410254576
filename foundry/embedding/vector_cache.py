"""Teacher vectors on disk by text, so that an interrupted training run goes on where it stopped."""

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TEXTS_AT_ONCE = 512


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


class VectorCache:
    """One SQLite file of float16 vectors."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path)
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
        )

    def store(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep the vectors (len(texts), d)."""
        halves = vectors.astype(np.float16)
        rows = [(_key(text), half.tobytes()) for text, half in zip(texts, halves, strict=True)]
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    def find(self, text: str) -> NDArray[np.float16] | None:
        """The vector of one text, if kept."""
        query = "SELECT vector FROM vectors WHERE key = ?"
        row = self._connection.execute(query, (_key(text),)).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float16)

    def embed(
        self,
        texts: Sequence[str],
        embed: Callable[[Sequence[str]], NDArray[np.float32]],
        progress: Callable[[int, int], object] | None = None,
    ) -> NDArray[np.float32]:
        """Vectors (len(texts), d), computed by `embed` where none is kept.

        Args:
            texts: Any number of texts.
            embed: The teacher.
            progress: Called with the number of texts done and their total.
        """
        missing = [text for text in dict.fromkeys(texts) if self.find(text) is None]
        for start in range(0, len(missing), TEXTS_AT_ONCE):
            part = missing[start : start + TEXTS_AT_ONCE]
            self.store(part, embed(part))
            if progress is not None:
                progress(min(start + TEXTS_AT_ONCE, len(missing)), len(missing))
        found = [vector for text in texts if (vector := self.find(text)) is not None]
        return np.array(found, dtype=np.float32)
