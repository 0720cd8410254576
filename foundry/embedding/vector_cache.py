"""A cache of vectors on disk, keyed by text, so that resumed builds embed nothing twice.

A space has the vectors of one model with one set of options; keys are the SHA-256 of space and
text.
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
    """A file of vectors. Raises BuildError if it cannot be read or written."""

    def __init__(self, path: Path) -> None:
        # Embedding again may cost money, so a replaced file is kept for its owner.
        super().__init__(
            path, what="the cache of vectors", loss="texts are embedded again", is_kept=True
        )

    def space(self, identity: str) -> "VectorSpace":
        """Return the space of a model and its options, which `identity` describes."""
        return VectorSpace(self, identity)


class VectorSpace:
    """The vectors of one model with one set of options."""

    def __init__(self, file: KeyValueFile, identity: str) -> None:
        self._file = file
        self._identity = hashlib.sha256(identity.encode()).digest()

    @property
    def dimensions(self) -> int | None:
        """Width of the vectors stored last; None if there are none."""
        content = self._file.get(self._key(_DIMENSIONS))
        return None if content is None else int(content)

    @property
    def probe(self) -> Vectors | None:
        """The vector (d,) that a known text had when the model was first called."""
        return self._find(_PROBE)

    def keep_probe(self, vector: Vectors) -> None:
        """Store the vector (d,) of a known text."""
        self._file.put({self._key(_PROBE): _pack(vector)})
        self._file.commit()

    def find(self, texts: Sequence[str]) -> list[Vectors | None]:
        """Return the vector (d,) of each text; None for those that are not cached."""
        return [self._find(_TEXT + text) for text in texts]

    def store(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Store the vectors (len(texts), d) exactly and durably."""
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
