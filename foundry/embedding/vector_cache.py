"""Vectors on disk by text, so that nothing is embedded twice, whenever a build was interrupted.

A space holds the vectors of one model asked in one way; each is found by a SHA-256 over its space
and its text.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundry.state.key_value import KeyValueFile

Vectors = NDArray[np.float32]

_PROBE = "probe"
_DIMENSIONS = "dimensions"
_TEXT = "text "


class VectorCache(KeyValueFile):
    """One file of vectors.

    Raises:
        BuildError: When the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        # Embedding again may cost money: what is replaced is kept for its owner to look at.
        super().__init__(
            path, what="the cache of vectors", loss="texts are embedded again", is_kept=True
        )

    def space(self, identity: str) -> "VectorSpace":
        """Return the vectors of one model asked in one way; `identity` names both."""
        return VectorSpace(self, identity)


class VectorSpace:
    """The vectors of one model asked in one way."""

    def __init__(self, file: KeyValueFile, identity: str) -> None:
        self._file = file
        self._identity = hashlib.sha256(identity.encode()).digest()

    @property
    def dimensions(self) -> int | None:
        """Width of the vectors that were stored last; None if there are none."""
        content = self._file.get(self._key(_DIMENSIONS))
        return None if content is None else int(content)

    @property
    def probe(self) -> Vectors | None:
        """The vector (d,) that the model gave for a known text when it was first asked."""
        return self._find(_PROBE)

    def keep_probe(self, vector: Vectors) -> None:
        """Keep the vector (d,) of a known text."""
        self._file.put({self._key(_PROBE): _pack(vector)})
        self._file.commit()

    def find(self, texts: Sequence[str]) -> list[Vectors | None]:
        """Return the vector (d,) of each text; None for those that are not cached."""
        return [self._find(_TEXT + text) for text in texts]

    def store(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep the vectors (len(texts), d) exactly; they survive the process from here on."""
        named = zip(texts, vectors, strict=True)
        kept = {self._key(_TEXT + text): _pack(vector) for text, vector in named}
        kept[self._key(_DIMENSIONS)] = str(vectors.shape[1]).encode()
        self._file.put(kept)
        self._file.commit()

    def _key(self, name: str) -> bytes:
        content = name.encode("utf-8", errors="surrogatepass")
        return hashlib.sha256(self._identity + content).digest()

    def _find(self, name: str) -> Vectors | None:
        content = self._file.get(self._key(name))
        return None if content is None else np.frombuffer(content, "<f4").astype(np.float32)


def _pack(vector: Vectors) -> bytes:
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()
