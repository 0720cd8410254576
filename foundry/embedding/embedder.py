"""Embedders: what turns chunks into vectors when an index is built."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """A document embedder, and the query encoder that goes with it into the index."""

    provider: str
    model: str
    dimensions: int

    def embed_documents(self, headings: Sequence[str], texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (n, dimensions) of texts under their headings, of any length.

        A zero row stands for a text that cannot be embedded.
        """
        ...

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As the server will embed these queries: unit vectors (n, dimensions), or zero rows.

        To be asked when all documents have been embedded.
        """
        ...

    def write_encoder(self, directory: Path) -> str:
        """Write the query encoder's files into a new folder; returns the SHA-256 over them."""
        ...


def hash_encoder(directory: Path) -> str:
    """SHA-256 over the names and contents of an encoder's files."""
    digest = hashlib.sha256()
    for path in sorted(directory.iterdir()):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
