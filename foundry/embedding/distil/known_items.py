"""Compare a model's vectors with the built-in table's, by questions made from a corpus.

Headings that one document alone has, and groups of rare words, must find their document by cosine
alone. They are easy, and nobody asked them: what finds no more of them than the table, which needs
no model, has yet to show what it is for.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from foundry.embedding.distil.corpus_texts import (
    HEADING_CHARACTERS,
    chunk_text,
    draw_chunks,
    hash_with,
)
from foundry.embedding.distil.distill import unit_rows
from foundry.embedding.embedder import OverlapMeasure, Vectors
from foundry.embedding.static import StaticEmbedder
from foundry.records import KnownItemFigures
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.encoder import split_words

CHUNKS = 4000
"""Drawn from the corpus; the answer is searched among them."""

EACH = 100
"""Questions of each kind, at most."""

MINIMUM_QUESTIONS = 10
RARE_WORDS = 3
LEAST_LETTERS = 4
SCORE_DIGITS = 4

Embed = Callable[[Sequence[str]], Vectors]


def compare_with_table(
    chunks: Callable[[], Iterable[ChunkRecord]],
    embed_documents: Embed,
    embed_queries: Embed,
    overlap: OverlapMeasure,
) -> KnownItemFigures | None:
    """Ask a model and the built-in table the same questions; None if there are too few.

    `embed_documents` and `embed_queries` give the model's unit vectors (n, d).
    """
    drawn = draw_chunks(chunks, CHUNKS, seed=0)
    questions = make_questions(drawn)
    if len(questions) < MINIMUM_QUESTIONS:
        return None
    texts = [query for query, _ in questions]
    documents = np.array([chunk.document_id for chunk in drawn])
    right = documents[np.newaxis, :] == np.array([place for _, place in questions])[:, np.newaxis]
    table = StaticEmbedder()
    headings = ["\n".join(chunk.headings()) for chunk in drawn]
    by_table = table.embed_documents(headings, [chunk.text for chunk in drawn], int)
    table_queries = table.make_query_encoder(chunks, overlap).encode(texts)
    by_model = embed_documents([chunk_text(chunk) for chunk in drawn])
    return KnownItemFigures(
        questions=len(questions),
        model=_mean_reciprocal_rank(by_model, embed_queries(texts), right),
        static=_mean_reciprocal_rank(by_table, table_queries, right),
    )


def make_questions(chunks: Sequence[ChunkRecord]) -> list[tuple[str, str]]:
    """Queries, each with the id of the one document that it is made from, in a steady order."""
    bearers: dict[str, set[str]] = {}
    words: list[set[str]] = []
    for chunk in chunks:
        for heading in chunk.headings():
            bearers.setdefault(heading, set()).add(chunk.document_id)
        words.append({word for word in split_words(chunk.text) if _is_usual(word)})
    headings = {
        heading: next(iter(documents))
        for heading, documents in bearers.items()
        if len(documents) == 1 and len(heading) <= HEADING_CHARACTERS[1]
    }
    frequencies = Counter(word for found in words for word in found)
    rare: dict[str, str] = {}
    for chunk, found in zip(chunks, words, strict=True):
        rarest = sorted((frequencies[word], word) for word in found)[:RARE_WORDS]
        if len(rarest) == RARE_WORDS and rarest[0][0] == 1:
            rare[" ".join(word for _, word in rarest)] = chunk.document_id
    order = hash_with(0, "known item")
    return [
        (query, made[query])
        for made in (headings, rare)
        for query in sorted(made, key=order)[:EACH]
    ]


def _is_usual(word: str) -> bool:
    return word.isalpha() and len(word) >= LEAST_LETTERS


def _mean_reciprocal_rank(documents: Vectors, queries: Vectors, right: NDArray[np.bool_]) -> float:
    """Return that of the best `right` chunk (q, n) by cosine; wrong ones that tie come before."""
    # Rounded, since the last digits of a matrix product differ between machines.
    scores = np.round(unit_rows(queries) @ unit_rows(documents).T, SCORE_DIGITS)
    best = np.where(right, scores, -np.inf).max(axis=1)
    before = ((scores >= best[:, np.newaxis]) & ~right).sum(axis=1)
    found = np.where(queries.any(axis=1), 1 / (1 + before), 0.0)
    return round(float(found.mean()), 4)
