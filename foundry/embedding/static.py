"""The default embedder: the table in `models/static-en` serves documents and queries alike."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import foundry
from foundry.embedding.embedder import hash_encoder
from foundry.runtime.encoder import PieceEncoder

MODEL = "static-en"
MODEL_FOLDER = Path(foundry.__file__).parent / "models" / MODEL
_ENCODER_FILES = ("encoder.json", "pieces.txt", "table.i8.npy", "weights.npy")


class StaticEmbedder:
    """Embeds with a table of word pieces; needs no network and no other library."""

    provider = "static"
    model = MODEL

    def __init__(self) -> None:
        self._encoder = PieceEncoder.open(MODEL_FOLDER)
        self.dimensions = self._encoder.dimensions

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors (n, dimensions); a zero row for a text that cannot be embedded."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            vector = self._encoder.encode(text)
            if vector is not None:
                row[:] = vector
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same as `embed_documents`."""
        return self.embed_documents(texts)

    def write_encoder(self, directory: Path) -> str:
        """Copy the table's files; returns the SHA-256 over them."""
        directory.mkdir()
        for name in _ENCODER_FILES:
            shutil.copyfile(MODEL_FOLDER / name, directory / name)
        return hash_encoder(directory)
