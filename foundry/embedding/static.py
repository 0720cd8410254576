"""The default embedder: the table in `models/static-en`, for documents and queries.

Two changes improve on a plain average; both were measured in `benchmarks/quality.py`. A chunk's
headings are embedded separately and added with a fixed share, so that the text does not outweigh
them. Queries weigh each piece by its rarity in the corpus: the index's encoder is the table with
these weights.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from foundry.documents.prepared import ChunkVectors, pack, unpack
from foundry.embedding.embedder import (
    Contract,
    Embedder,
    OverlapMeasure,
    QueryEncoder,
    QueryFigures,
    Vectors,
)
from foundry.embedding.encoder_files import rarity_factors, write_encoder
from foundry.embedding.many_texts import encode_all, encode_texts
from foundry.files import MODEL_FOLDER
from foundry.progress import tell_nobody
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.encoder import PieceCutter, PieceEncoder
from foundry.runtime.retrieval.quantising import quantise

REMEMBERED_WORDS = 65_536

FIGURES = QueryFigures("own", "documents and queries are embedded by the same table")

HEADING_SHARE = 0.5
"""Length of the headings' vector, relative to the text's."""


class StaticEmbedder(Embedder):
    """Embeds with a table of word pieces; needs no network and no other library.

    `frequencies` int64 (V,) count the observed chunks with each piece. With `weighs_by_corpus`,
    queries weigh pieces by them.
    """

    def __init__(self, language: str = "english", *, weighs_by_corpus: bool = True) -> None:
        self._encoder = _open_encoder(language)
        self.measures_distance = language == "english"
        self._weighs_by_corpus = weighs_by_corpus
        self._texts = 0
        self.frequencies = np.zeros(len(self._encoder.weights), dtype=np.int64)

    @property
    def contract(self) -> Contract:
        """The contract for the manifest."""
        description = self._encoder.description
        return Contract("static", MODEL_FOLDER.name, description.sha256, description.dimensions)

    @property
    def embedded(self) -> int:
        """Number of texts observed so far, including those of a resumed build."""
        return self._texts

    def embed_documents(
        self,
        headings: Sequence[str],
        texts: Sequence[str],
        progress: Callable[[int], object] = tell_nobody,
    ) -> Vectors:
        """Return the vectors (n, dimensions) of texts with their headings, rounded as in an index.

        The texts are observed.
        """
        vectors = self.embed_chunks(headings, texts)
        self.observe([vectors])
        progress(len(texts))
        rows: NDArray[np.int8] = unpack(vectors.rows, np.int8).reshape(-1, vectors.dimensions)
        scales: NDArray[np.float32] = unpack(vectors.scales, np.float32)
        return rows.astype(np.float32) * scales[:, np.newaxis]

    def embed_chunks(self, headings: Sequence[str], texts: Sequence[str]) -> ChunkVectors:
        """Return the vectors as an index stores them; the texts are not yet observed."""
        # Chunks of a section share their headings, so each heading is encoded only once.
        different = [*dict.fromkeys(headings)]
        places = {heading: place for place, heading in enumerate(different, len(texts))}
        encoded = encode_texts(self._encoder, [*texts, *different])
        bodies = encoded.vectors[: len(texts)]
        above = encoded.vectors[[places[heading] for heading in headings]]
        has_body = bodies.any(axis=1, keepdims=True)
        shares = np.where(has_body, HEADING_SHARE, 1).astype(np.float32)
        rows, scales = quantise(bodies + shares * above)
        return ChunkVectors(
            dimensions=self._encoder.description.dimensions,
            rows=pack(rows),
            scales=pack(scales),
            pieces=pack(encoded.pieces[: encoded.offsets[len(texts)]]),
        )

    def observe(self, documents: Sequence[ChunkVectors]) -> None:
        """Count the chunks with each piece, for the weights of queries."""
        self._texts += sum(len(vectors.scales) // 4 for vectors in documents)
        pieces = unpack(b"".join(vectors.pieces for vectors in documents), np.uint32)
        self.frequencies += np.bincount(pieces, minlength=len(self.frequencies))

    def resume(self, frequencies: NDArray[np.int64], texts: int, gone: Iterable[str]) -> None:
        """Start from the counts of a previous build over `texts` texts, without the `gone` ones."""
        self.frequencies += frequencies
        self._texts += texts
        for text in gone:
            rows = {row for word in self._encoder.pieces.cut(text) for row in word.rows}
            self.frequencies[list(rows)] -= 1
            self._texts -= 1

    def make_query_encoder(
        self, chunks: Callable[[], Iterable[ChunkRecord]], overlap: OverlapMeasure
    ) -> QueryEncoder:
        """Return the table, weighted by the corpus if configured."""
        del chunks, overlap
        encoder = self._encoder
        if self._weighs_by_corpus:
            factors = rarity_factors(self.frequencies, self._texts)
            encoder = replace(encoder, weights=np.rint(encoder.weights * factors))
        write = partial(write_encoder, encoder=encoder, pieces=[*encoder.pieces.numbers])
        return QueryEncoder(FIGURES, partial(encode_all, encoder), write)


@cache
def _open_encoder(language: str) -> PieceEncoder:
    """Open the built-in encoder for a language; it is cached, since a build needs it twice."""
    encoder = PieceEncoder.open(MODEL_FOLDER)
    return replace(
        encoder,
        description=replace(encoder.description, language=language),
        pieces=PieceCutter([*encoder.pieces.numbers], language, REMEMBERED_WORDS),
    )
