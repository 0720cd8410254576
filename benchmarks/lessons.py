"""Lets a query table learn to rank, for `embedding.py`.

A lesson is a text like a query, drawn from a chunk, and the chunks that both lanes find nearest to
it. The table's rows move by the gradient of the cross entropy between how the fused scores rank
those chunks and a target; the vectors of chunks stay.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundry.embedding.distil.corpus_pieces import WordCounts
from foundry.embedding.distil.corpus_texts import draw_chunks, draw_texts
from foundry.embedding.distil.distill import Adam, count_pieces, unit_rows
from foundry.embedding.embedder import Vectors
from foundry.runtime.index.reader import Index
from foundry.runtime.index.tokens import query_terms
from foundry.runtime.retrieval.encoder import EncoderLayout, PieceEncoder

SEMANTIC, KEYWORD = 0.7, 0.3

TEXTS = 6_000
TEXTS_OF_A_CHUNK = 3
NEGATIVES = 15
"""Of each lane, for a text."""

NEAR = 0.9
"""The cosine from which another chunk may be as right."""

TEMPERATURE = 0.03
EPOCHS = 2
BATCH = 256
STEP = 0.015
"""First step of a row, as a share of the median length of rows."""

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Lessons:
    """Texts (n,), each with the chunks (n, k) that it is to rank, its own first.

    `keyword` (n, k) are their scores from 0 to 1; `counted` (n, k) is false for a chunk that may be
    as right as the text's own.
    """

    texts: list[str]
    chunks: NDArray[np.int64]
    keyword: NDArray[np.float64]
    counted: NDArray[np.bool_]

    def distribution(self, semantic: Scores, lessons: NDArray[np.int64]) -> Scores:
        """Return the softmax (b, k) of the fused scores of some lessons (b,)."""
        fused = SEMANTIC * np.maximum(semantic, 0) + KEYWORD * self.keyword[lessons]
        fused = np.where(self.counted[lessons], fused / TEMPERATURE, -np.inf)
        powers = np.exp(fused - fused.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def draw_lessons(index: Index, documents: Vectors) -> Lessons:
    """Draw texts from the chunks of an index with the static table's vectors (n, d)."""
    chunks = [index.chunk(number) for number in range(index.chunk_count)]
    owners = np.array([chunk.document_id for chunk in chunks])
    numbers = {chunk.id: number for number, chunk in enumerate(chunks)}
    common = WordCounts(chunks).common_words()
    texts, ranked, keywords = [], [], []
    for chunk in draw_chunks(lambda: chunks, TEXTS // TEXTS_OF_A_CHUNK, seed=0):
        for text in draw_texts(
            [chunk], TEXTS_OF_A_CHUNK, seed=0, language="english", common_words=common
        ):
            vector = index.encoder.encode(text) if index.encoder else None
            if vector is None:
                continue
            keyword = keyword_scores(index, text)
            found = [numbers[chunk.id]]
            for lane in (keyword.copy(), documents @ vector):
                lane[found] = -1
                found.extend(np.argsort(-lane, kind="stable")[:NEGATIVES].tolist())
            texts.append(text)
            ranked.append(found)
            keywords.append(keyword[found])
    drawn = np.array(ranked)
    likeness = np.einsum("nd,nkd->nk", documents[drawn[:, 0]], documents[drawn])
    counted = (likeness < NEAR) & (owners[drawn] != owners[drawn[:, :1]])
    counted[:, 0] = True
    return Lessons(texts, drawn, np.array(keywords), counted)


def learn_ranking(
    encoder: PieceEncoder,
    folder: Path,
    lessons: Lessons,
    target: Scores,
    documents: Vectors,
    queries: list[str],
) -> Vectors:
    """Return unit vectors (q, d) of queries by a table that has learned to rank.

    Args:
        encoder: To start from, in its `folder`.
        lessons: Which chunks to rank for which texts.
        target: How they should be, each row adding up to 1 (n, k).
        documents: Vectors of all chunks (n, d), which stay.
        queries: What to ask.
    """
    pieces = EncoderLayout(folder).pieces.read_text(encoding="utf-8").split("\n")[:-1]
    counts, asked = (count_pieces(t, pieces, "english") for t in (lessons.texts, queries))
    rows = encoder.table * encoder.weights[:, np.newaxis]
    common = encoder.description.common
    if common:  # The part that all vectors share: see `encoder`.
        rows -= rows.mean(axis=1, keepdims=True)
    level = math.sqrt(common / rows.shape[1]) * documents.sum(axis=1)
    documents = math.sqrt(1 - common) * documents
    if common:
        documents = documents - documents.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(rows, axis=1)
    adam = Adam((rows / np.median(lengths[lengths > 0])).astype(np.float32))
    generator = np.random.default_rng(0)
    order = np.concatenate([generator.permutation(len(lessons.texts)) for _ in range(EPOCHS)])
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        ranked = documents[lessons.chunks[chosen]]
        sums = counts[chosen] @ adam.rows
        length = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
        units = sums / length
        semantic = np.einsum("bd,bkd->bk", units, ranked) + level[lessons.chunks[chosen]]
        excess = lessons.distribution(semantic, chosen) - target[chosen]
        slope = np.einsum("bk,bkd->bd", excess, ranked) / len(chosen)
        slope = (slope - np.sum(slope * units, axis=1, keepdims=True) * units) / length
        touched = np.unique(counts[chosen].indices)
        share = 0.5 * (1 + math.cos(math.pi * start / len(order)))
        gradient = np.asarray(counts[chosen][:, touched].T @ slope, dtype=np.float32)
        adam.step(touched, gradient, STEP / math.sqrt(rows.shape[1]) * share)
    own = math.sqrt(1 - common) * unit_rows(asked @ adam.rows)
    return np.asarray(own + math.sqrt(common / rows.shape[1]), dtype=np.float32)


def keyword_scores(index: Index, query: str) -> Scores:
    """Return the keyword lane's score of each chunk (n,), from 0 to 1."""
    lane, terms = index.keyword_lane, query_terms(index.tokenizer.tokenize(query))
    return lane.scores(terms, np.arange(index.chunk_count)) / lane.search(terms, 1).full_score
