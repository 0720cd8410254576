"""The default embedder: the table in `models/static-en` serves documents and queries alike.

Two things make more of it than a plain average, both measured in `benchmarks/quality.py`. A chunk's
headings are embedded by themselves and added with a fixed share, so that a few telling words are
not drowned by the many below them. And queries weigh each piece by how rare it is in the corpus,
which the table cannot know: the index's encoder is the table with those weights.
"""

import math
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import foundry
from foundry.embedding.embedder import hash_encoder
from foundry.embedding.encoder_files import write_encoder_files
from foundry.runtime.encoder import EncoderLayout, PieceEncoder

MODEL = "static-en"
MODEL_FOLDER = Path(foundry.__file__).parent / "models" / MODEL

HEADING_SHARE = 0.5
"""Length of the headings' vector where the text's is 1."""

RARITY_POWER = 0.5
"""Of a piece's inverse document frequency, scaled to at most 1, in its query weight."""


class StaticEmbedder:
    """Embeds with a table of word pieces; needs no network and no other library."""

    provider = "static"
    model = MODEL

    def __init__(self) -> None:
        self._encoder = PieceEncoder.open(MODEL_FOLDER)
        self.dimensions = self._encoder.dimensions
        self._texts = 0
        self._frequencies = np.zeros(len(self._encoder.weights), dtype=np.int64)

    def embed_documents(self, headings: Sequence[str], texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors (n, dimensions) of texts under their headings, of any length.

        A zero row stands for a text that cannot be embedded.
        """
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, heading, text in zip(vectors, headings, texts, strict=True):
            words = self._encoder.cut(text)
            self._texts += 1
            self._frequencies[list({*chain.from_iterable(word.rows for word in words)})] += 1
            body = self._encoder.encode_words(words)
            above = self._encoder.encode(heading)
            if body is not None:
                row += body
            if above is not None:
                row += np.float32(1 if body is None else HEADING_SHARE) * above
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors (n, dimensions) by the index's encoder; a zero row as above."""
        encoder = self._encoder.reweighted(self._query_weights())
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            vector = encoder.encode(text)
            if vector is not None:
                row += vector
        return vectors

    def write_encoder(self, directory: Path) -> str:
        """Write the table with the corpus's weights; returns the SHA-256 over the files."""
        source = EncoderLayout(MODEL_FOLDER)
        description = self._encoder.description
        write_encoder_files(
            directory,
            source.pieces.read_bytes(),
            np.load(source.table, allow_pickle=False),
            self._query_weights(),
            name=description.name,
            minimum_coverage=description.minimum_coverage,
            common=description.common,
        )
        return hash_encoder(directory)

    def _query_weights(self) -> NDArray[np.int32]:
        largest = math.log(1 + 2 * (self._texts + 1))
        # Logarithms may differ in the last bit between machines; six digits do not.
        rarity = {
            frequency: round(
                (math.log(1 + (self._texts - frequency + 0.5) / (frequency + 0.5)) / largest)
                ** RARITY_POWER,
                6,
            )
            for frequency in np.unique(self._frequencies).tolist()
        }
        factors = np.array([rarity[frequency] for frequency in self._frequencies.tolist()])
        weights: NDArray[np.float64] = np.rint(self._encoder.weights * factors)
        return weights.astype(np.int32)
