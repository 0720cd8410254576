"""Generates a corpus of any size, determined by a seed, as a project that can be built.

Word frequencies are those of a text without stop words (Zipf and Mandelbrot: the word of rank r is
proportional to 1 / (r + 20)). A topic is a word with its nearest neighbours by the built-in
encoder. A chunk contains the twelve words of its topic, twice, twelve words that the chunks of its
document share, and 24 words of its own: about 450 characters. Its vectors form clusters, like real
embeddings. A query is three words of a topic and two other words of one of its chunks.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from common import make_project
from numpy.typing import NDArray
from timed_build import timed_build

from foundry.embedding.many_texts import encode_all
from foundry.files import MODEL_FOLDER
from foundry.runtime.retrieval.encoder import EncoderLayout, PieceEncoder

SEED = 20261121
VOCABULARY = 20_000
SHIFT = 20
TOPICS = 2_000
TOPIC_WORDS = DOCUMENT_WORDS = 12
OWN_WORDS = 24
CHUNKS_OF_DOCUMENT = 8
QUERIES = 300

MAX_CHARS = 640
"""More than any paragraph, and less than any two, so that each paragraph becomes a chunk."""

BLOCK = 1_024
"""Documents generated at a time."""


@dataclass(frozen=True, slots=True)
class GeneratedDocument:
    """A title, and the texts of the chunks."""

    title: str
    topic: int
    texts: tuple[str, ...]


class Corpus:
    """A generated corpus of `chunks` chunks."""

    def __init__(self, chunks: int) -> None:
        self.chunks = chunks
        encoder = PieceEncoder.open(MODEL_FOLDER)
        chooser = np.random.default_rng(SEED)
        words = _words(chooser)
        self._words = np.array(words, dtype=object)
        weights = 1 / (np.arange(len(words)) + SHIFT)
        weights /= weights.sum()
        self._sums = np.cumsum(weights)
        vectors = encode_all(encoder, words)
        self._topics = _neighbours(vectors - vectors.mean(axis=0), chooser)

    def documents(self) -> Iterator[GeneratedDocument]:
        """Yield all documents in order; they are the same each time."""
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
        for place, topic in enumerate(topics.tolist()):
            part = slice(place * CHUNKS_OF_DOCUMENT, (place + 1) * CHUNKS_OF_DOCUMENT)
            texts = tuple(" ".join(self._words[row]) for row in numbers[part])
            about = [*chooser.choice(self._topics[topic], 2, replace=False), *shared[place, :2]]
            yield GeneratedDocument(" ".join(self._words[about]), topic, texts)

    def _draw(self, chooser: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.int64]:
        return np.searchsorted(self._sums[:-1], chooser.random(shape))

    def queries(self, count: int) -> list[str]:
        """Return queries for the first documents of the corpus, one each."""
        chooser = np.random.default_rng([SEED, 1])
        queries = []
        for document in islice(self.documents(), count):
            words = [*self._words[chooser.choice(self._topics[document.topic], 3, replace=False)]]
            words += [*chooser.choice(document.texts[0].split(), 2, replace=False)]
            queries.append(" ".join(words))
        return queries


def generated_project(folder: Path, chunks: int) -> Path:
    """Return the project of a corpus under `folder`, which is written if it does not exist.

    `corpus.jsonl` has a record for each document, `queries.json` the queries. The project is not
    built.
    """
    project = folder / f"generated-{chunks}"
    if not (project / "foundry.toml").exists():
        project.mkdir(parents=True, exist_ok=True)
        corpus = Corpus(chunks)
        with (project / "corpus.jsonl").open("w", encoding="utf-8") as file:
            for number, document in enumerate(corpus.documents()):
                record = {"id": f"d{number}", "title": document.title}
                file.write(json.dumps({**record, "text": "\n\n".join(document.texts)}) + "\n")
        queries = json.dumps(corpus.queries(QUERIES))
        (project / "queries.json").write_text(queries, encoding="utf-8")
        source = 'type = "records"\npath = "corpus.jsonl"'
        make_project(project, source, f"\n[chunking]\nmax_chars = {MAX_CHARS}\n")
    return project


def built_project(folder: Path, chunks: int) -> Path:
    """Return the project of a corpus; build it if it has not been built."""
    project = generated_project(folder, chunks)
    if not (project / ".foundry" / "index" / "CURRENT").exists():
        timed_build(project)
    return project


def queries_of(project: Path) -> list[str]:
    """Return the queries of a generated corpus."""
    queries: list[str] = json.loads((project / "queries.json").read_bytes())
    return queries


def _words(chooser: np.random.Generator) -> list[str]:
    pieces = EncoderLayout(MODEL_FOLDER).pieces.read_text(encoding="utf-8").split()
    words = [word for word in pieces if re.fullmatch("[a-z]{4,12}", word)]
    chooser.shuffle(words)
    return words[:VOCABULARY]


def _neighbours(vectors: NDArray[np.float32], chooser: np.random.Generator) -> NDArray[np.int64]:
    """Return the topics (t, w): the w nearest words to each of t words, beginning with itself."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    chosen = chooser.choice(len(unit), TOPICS, replace=False)
    blocks = np.split(chosen, 20)
    cosines = (unit[block] @ unit.T for block in blocks)
    return np.concatenate([np.argsort(-some, axis=1)[:, :TOPIC_WORDS] for some in cosines])
