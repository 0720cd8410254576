"""A generated corpus of any size, the same for a seed, written as an index without a build.

Words are as frequent as in a text without its stop words (Zipf and Mandelbrot: the word of rank r
in proportion to 1 / (r + 20)). A topic is a word with those nearest to it in meaning. A chunk has
the dozen words of its topic, twice, a dozen words that the chunks of its document share, and two
dozen of its own; its vector is the sum of the words' vectors by the built-in encoder, frequent
words counting less, so that vectors lie in clusters as embeddings do. A query is three words of a
topic and two of one of its chunks.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from foundry.embedding.encoder_files import encode_all
from foundry.embedding.static import MODEL_FOLDER, StaticEmbedder
from foundry.indexing.terms import count_terms
from foundry.indexing.writer import IndexWriter
from foundry.prepared import ChunkVectors, PreparedDocument, pack
from foundry.records import Chunk, Document, Reading
from foundry.runtime.encoder import EncoderLayout, PieceEncoder
from foundry.runtime.quantising import quantise
from foundry.runtime.tokens import Tokenizer

SEED = 20261121
VOCABULARY = 20_000
SHIFT = 20
TOPICS = 2_000
TOPIC_WORDS = DOCUMENT_WORDS = 12
OWN_WORDS = 24
CHUNKS_OF_DOCUMENT = 8
SMOOTHING = 1e-3
"""A word of frequency p counts a / (a + p) (Arora, Liang and Ma 2017)."""

BLOCK = 1_024
"""Documents drawn at a time."""


@dataclass(frozen=True, slots=True)
class GeneratedDocument:
    """A title, and the texts (k,) and unit vectors (k, d) of its chunks."""

    title: str
    topic: int
    texts: tuple[str, ...]
    vectors: NDArray[np.float32]


class Corpus:
    """A generated corpus of `chunks` chunks."""

    def __init__(self, chunks: int) -> None:
        self.chunks = chunks
        self._encoder = PieceEncoder.open(MODEL_FOLDER)
        chooser = np.random.default_rng(SEED)
        words = _words(chooser)
        self._words = np.array(words, dtype=object)
        weights = 1 / (np.arange(len(words)) + SHIFT)
        weights /= weights.sum()
        self._sums = np.cumsum(weights)
        vectors = encode_all(self._encoder, words)
        self._topics = _neighbours(vectors - vectors.mean(axis=0), chooser)
        self._vectors = vectors * (SMOOTHING / (SMOOTHING + weights)).astype(np.float32)[:, None]

    @property
    def dimensions(self) -> int:
        """Length of the vectors."""
        return self._encoder.dimensions

    def encode(self, text: str) -> NDArray[np.float32]:
        """The vector (d,) of a text by the built-in encoder; zeros if it has none."""
        return encode_all(self._encoder, [text])[0]

    def documents(self) -> Iterator[GeneratedDocument]:
        """All documents, one after the other; the same each time."""
        chooser = np.random.default_rng([SEED, self.chunks])
        for start in range(0, self.chunks, CHUNKS_OF_DOCUMENT * BLOCK):
            yield from self._block(chooser, min(CHUNKS_OF_DOCUMENT * BLOCK, self.chunks - start))

    def _block(self, chooser: np.random.Generator, chunks: int) -> Iterator[GeneratedDocument]:
        documents = -(-chunks // CHUNKS_OF_DOCUMENT)
        topics = chooser.integers(0, TOPICS, documents)
        shared = self._draw(chooser, (documents, DOCUMENT_WORDS))
        document = np.repeat(np.arange(documents), CHUNKS_OF_DOCUMENT)[:chunks]
        topic_words = self._topics[topics[document]]
        own = self._draw(chooser, (chunks, OWN_WORDS))
        numbers = np.concatenate([topic_words, topic_words, shared[document], own], axis=1)
        numbers = chooser.permuted(numbers, axis=1)
        offsets = np.arange(0, numbers.size + 1, numbers.shape[1])
        ones = np.ones(numbers.size, dtype=np.float32)
        shape = (chunks, len(self._words))
        vectors = csr_array((ones, numbers.ravel(), offsets), shape=shape) @ self._vectors
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        for place, topic in enumerate(topics.tolist()):
            part = slice(place * CHUNKS_OF_DOCUMENT, (place + 1) * CHUNKS_OF_DOCUMENT)
            texts = tuple(" ".join(self._words[row]) for row in numbers[part])
            about = [*chooser.choice(self._topics[topic], 2, replace=False), *shared[place, :2]]
            title = " ".join(self._words[about])
            yield GeneratedDocument(title, topic, texts, vectors[part])

    def _draw(self, chooser: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.int64]:
        return np.searchsorted(self._sums[:-1], chooser.random(shape))

    def queries(self, count: int) -> list[str]:
        """Queries whose topics are those of documents spread over the first of the corpus."""
        chooser = np.random.default_rng([SEED, 1])
        queries = []
        for document in islice(self.documents(), count):
            words = [*self._words[chooser.choice(self._topics[document.topic], 3, replace=False)]]
            words += [*chooser.choice(document.texts[0].split(), 2, replace=False)]
            queries.append(" ".join(words))
        return queries

    def write_index(self, folder: Path) -> None:
        """Write it as an index into a new folder."""
        folder.mkdir(parents=True)
        writer = IndexWriter(folder, language="english", sources=["generated"])
        tokenizer = Tokenizer("english")
        for number, document in enumerate(self.documents()):
            writer.add(_prepare(number, document, tokenizer))
        writer.write_lanes()
        # It has observed no pieces, so all count as equally rare.
        writer.make_query_encoder(StaticEmbedder())
        report = {"sources": [{"name": "generated", "documents": 0, "chunks": self.chunks}]}
        writer.finish({**report, "skipped": []}, config_sha256="")

    def write_records(self, path: Path) -> None:
        """Write it as a source of records, one for each document."""
        with path.open("w", encoding="utf-8") as file:
            for number, document in enumerate(self.documents()):
                record = {"id": f"d{number}", "title": document.title}
                file.write(json.dumps({**record, "text": "\n\n".join(document.texts)}) + "\n")


def _words(chooser: np.random.Generator) -> list[str]:
    pieces = EncoderLayout(MODEL_FOLDER).pieces.read_text(encoding="utf-8").split()
    words = [word for word in pieces if re.fullmatch("[a-z]{4,12}", word)]
    chooser.shuffle(words)
    return words[:VOCABULARY]


def _neighbours(vectors: NDArray[np.float32], chooser: np.random.Generator) -> NDArray[np.int64]:
    """The topics (t, w): for each of t words the w nearest by cosine, itself the first."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    chosen = chooser.choice(len(unit), TOPICS, replace=False)
    blocks = np.split(chosen, 20)
    cosines = (unit[block] @ unit.T for block in blocks)
    return np.concatenate([np.argsort(-some, axis=1)[:, :TOPIC_WORDS] for some in cosines])


def _prepare(number: int, generated: GeneratedDocument, tokenizer: Tokenizer) -> PreparedDocument:
    document = Document(
        id=f"d{number}",
        source="generated",
        path=f"{number}.txt",
        url=None,
        title=generated.title,
        media_type="text/plain",
        reader="generated",
        sha256="",
        bytes=sum(map(len, generated.texts)),
        replaced=0,
        tags=(),
        modified=None,
        metadata={},
        reading=Reading(text=""),
    )
    chunks = tuple(
        Chunk(f"d{number}-{place}", document.id, text, (), 0, len(text), 1, 1)
        for place, text in enumerate(generated.texts)
    )
    rows, scales = quantise(generated.vectors)
    vectors = ChunkVectors(
        dimensions=generated.vectors.shape[1],
        rows=pack(rows),
        scales=pack(scales),
        offsets=pack(np.zeros(len(rows) + 1, dtype=np.uint32)),
        pieces=b"",
    )
    return PreparedDocument(document, chunks, count_terms(document, chunks, tokenizer), vectors)
