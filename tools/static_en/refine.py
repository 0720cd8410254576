"""Refines a table so that its cosines, fused with keyword scores, find a query's own passage.

Distillation only copies the teacher's directions, as well as a bag of pieces can; this step
improves the ranking. Queries are titles, and sentences taken out of their passages (the inverse
cloze task: Lee, Chang and Toutanova 2019). Wrong answers are the other passages of a batch, which
are all from one source (in-batch negatives: Karpukhin et al. 2020). The trained score is the one
that servers use: a weighted sum of the cosine and of BM25 divided by its maximum for the query.
Every step also follows the teacher.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from foundry.embedding.distil.distill import Adam, Matrix, count_pieces, distillation_gradient
from training_text import Passage, sentences

BM25_K1 = 1.5
BM25_B = 0.75


@dataclass(frozen=True, slots=True)
class RefineOptions:
    """Options of refining.

    Attributes:
        seed: Determines the order, the sentences and the batches.
        batch: Passages per step.
        most: Maximum number of passages of one source.
        learning_rate: Adam's step size at the start; it falls to zero along a half cosine.
        temperature: Temperature of the softmax over fused scores.
        semantic_weight: The cosine's share of the fused score.
        title_share: How often the title is the query, if there is one.
        keep_share: How often the sentence also stays in its passage.
        distillation_scale: Weight of the teacher's gradient relative to the ranking's.
        stop_share: Pieces in more than this share of all texts do not count as keywords.
    """

    seed: int = 0
    batch: int = 1024
    most: int = 60_000
    learning_rate: float = 1e-3
    temperature: float = 0.05
    semantic_weight: float = 0.7
    title_share: float = 0.4
    keep_share: float = 0.3
    distillation_scale: float = 10.0
    stop_share: float = 0.04


@dataclass(frozen=True, slots=True)
class Pairs:
    """The passages of one source as occurrences of V pieces.

    Attributes:
        sentences: float32 (s, V).
        passages: float32 (p, V), each the sum of its sentences.
        titles: float32 (p, V).
        title_numbers: (p,), equal where titles are.
        starts: (p,), the first sentence of each passage.
        lengths: (p,), how many sentences each has.
    """

    sentences: "sparse.csr_matrix"
    passages: "sparse.csr_matrix"
    titles: "sparse.csr_matrix"
    title_numbers: NDArray[np.intp]
    starts: NDArray[np.intp]
    lengths: NDArray[np.intp]

    @classmethod
    def of(cls, passages: Sequence[Passage], pieces: Sequence[str]) -> "Pairs":
        """Cut passages into sentences and count their pieces."""
        cut = [sentences(passage.text) for passage in passages]
        lengths = np.array([len(parts) for parts in cut], dtype=np.intp)
        counted = count_pieces([part for parts in cut for part in parts], pieces)
        owners = np.repeat(np.arange(len(cut)), lengths)
        ones = np.ones(len(owners), dtype=np.float32)
        owned = sparse.csr_matrix((ones, (owners, np.arange(len(owners)))))
        numbers: dict[str, int] = {}
        return cls(
            sentences=counted,
            passages=(owned @ counted).tocsr(),
            titles=count_pieces([passage.title for passage in passages], pieces),
            title_numbers=np.array(
                [numbers.setdefault(passage.title, len(numbers)) for passage in passages]
            ),
            starts=np.cumsum(lengths) - lengths,
            lengths=lengths,
        )


@dataclass(frozen=True, slots=True)
class _Batch:
    """Queries and passages (b, V); the right passage of query i is i."""

    queries: "sparse.csr_matrix"
    passages: "sparse.csr_matrix"
    title_numbers: NDArray[np.intp]


def refine(
    rows: Matrix,
    pairs: Sequence[Pairs],
    counts: "sparse.csr_matrix",
    targets: Matrix,
    options: RefineOptions,
    progress: Callable[[int, float], object] | None = None,
) -> Matrix:
    """Refine the table in one pass over all passages.

    Args:
        rows: float32 (V, d), the initial table; not changed.
        pairs: Passages by source.
        counts: float32 (n, V), the texts that the teacher embedded, repeated according to weight.
        targets: float32 (n, d), their unit vectors.
        options: Options of refining.
        progress: Called with the step's number and the share of queries ranked right.

    Returns: float32 (V, d).
    """
    generator = np.random.default_rng(options.seed)
    frequency = np.asarray((counts > 0).mean(axis=0)).ravel()
    stop_pieces = np.flatnonzero(frequency > options.stop_share)
    batches = [
        (group, chosen) for group in pairs for chosen in _draw_batches(group, options, generator)
    ]
    adam = Adam(np.array(rows, dtype=np.float32))
    for number in range(len(batches)):
        position = int(generator.integers(number, len(batches)))
        batches[number], batches[position] = batches[position], batches[number]
        batch = _make_batch(*batches[number], options, generator)
        touched, gradient, accuracy = _ranking_gradient(batch, adam.rows, stop_pieces, options)
        taught = generator.integers(0, counts.shape[0], options.batch)
        also, taught_gradient = distillation_gradient(counts[taught], targets[taught], adam.rows)
        union = np.union1d(touched, also)
        total = np.zeros((len(union), rows.shape[1]), dtype=np.float32)
        total[np.searchsorted(union, touched)] += gradient
        total[np.searchsorted(union, also)] += options.distillation_scale * taught_gradient
        rate = options.learning_rate * 0.5 * (1 + np.cos(np.pi * number / len(batches)))
        adam.step(union, total, float(rate))
        if progress is not None:
            progress(number, accuracy)
    return adam.rows


def _draw_batches(
    pairs: Pairs, options: RefineOptions, generator: np.random.Generator
) -> Iterator[NDArray[np.intp]]:
    usable = np.flatnonzero((np.diff(pairs.titles.indptr) > 0) | (pairs.lengths > 1))
    shuffled = usable[generator.permutation(len(usable))][: options.most]
    for start in range(0, len(shuffled), options.batch):
        chosen = shuffled[start : start + options.batch]
        if len(chosen) > 1:
            yield chosen


def _make_batch(
    pairs: Pairs,
    chosen: NDArray[np.intp],
    options: RefineOptions,
    generator: np.random.Generator,
) -> _Batch:
    """Take a sentence out of each passage, or use its title."""
    size = len(chosen)
    titled = np.diff(pairs.titles.indptr)[chosen] > 0
    by_title = titled & (
        (generator.random(size) < options.title_share) | (pairs.lengths[chosen] < 2)
    )
    picked = pairs.starts[chosen] + (generator.random(size) * pairs.lengths[chosen]).astype(np.intp)
    taken_out = _masked(pairs.sentences[picked], ~by_title)
    removed = _masked(taken_out, generator.random(size) >= options.keep_share)
    shows_title = ~by_title & (generator.random(size) < 0.5)
    queries = (taken_out + _masked(pairs.titles[chosen], by_title)).tocsr()
    passages = pairs.passages[chosen] - removed + _masked(pairs.titles[chosen], shows_title)
    passages = passages.tocsr()
    passages.data[np.abs(passages.data) < 0.5] = 0
    queries.eliminate_zeros()
    passages.eliminate_zeros()
    whole = (np.diff(queries.indptr) > 0) & (np.diff(passages.indptr) > 0)
    return _Batch(queries[whole], passages[whole], pairs.title_numbers[chosen[whole]])


def _masked(counts: "sparse.csr_matrix", keep: NDArray[np.bool_]) -> "sparse.csr_matrix":
    return sparse.diags(keep.astype(np.float32)) @ counts


def _ranking_gradient(
    batch: _Batch, rows: Matrix, stop_pieces: NDArray[np.intp], options: RefineOptions
) -> tuple[NDArray[np.intp], Matrix, float]:
    """Return the affected rows, the softmax loss's gradient for them, and the accuracy."""
    size = batch.queries.shape[0]
    both = sparse.vstack([batch.queries, batch.passages]).tocsr()
    touched, columns = np.unique(both.indices, return_inverse=True)
    local = sparse.csr_matrix(
        (np.sqrt(both.data), columns, both.indptr), shape=(2 * size, len(touched))
    )
    sums = local @ rows[touched]
    lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
    units = sums / lengths
    queries, passages = units[:size], units[size:]
    keyword = _keyword_scores(batch, stop_pieces)
    scores = options.semantic_weight * np.maximum(queries @ passages.T, 0)
    scores += (1 - options.semantic_weight) * keyword
    # A passage under the query's own title may answer the query too, so it does not count as wrong.
    same = batch.title_numbers[:, None] == batch.title_numbers[None, :]
    np.fill_diagonal(same, False)
    scores[same] = -1e3
    diagonal = np.arange(size)
    accuracy = float(np.mean(scores.argmax(axis=1) == diagonal))
    exponentials = np.exp((scores - scores.max(axis=1, keepdims=True)) / options.temperature)
    error = exponentials / exponentials.sum(axis=1, keepdims=True)
    error[diagonal, diagonal] -= 1
    error *= options.semantic_weight / (size * options.temperature)
    slope = np.concatenate([error @ passages, error.T @ queries])
    slope -= np.sum(slope * units, axis=1, keepdims=True) * units
    gradient = np.asarray(local.T @ (slope / lengths), dtype=np.float32)
    return touched, gradient, accuracy


def _keyword_scores(batch: _Batch, stop_pieces: NDArray[np.intp]) -> Matrix:
    """Return BM25 (b, b) with the batch as the collection, divided by each query's maximum."""
    passages = batch.passages.copy()
    lengths = np.asarray(passages.sum(axis=1)).ravel()
    containing = np.asarray((passages > 0).sum(axis=0)).ravel()
    rarity = np.log(1 + (len(lengths) - containing + 0.5) / (containing + 0.5))
    rarity[stop_pieces] = 0
    owners = np.repeat(np.arange(len(lengths)), np.diff(passages.indptr))
    norm = BM25_K1 * (1 - BM25_B + BM25_B * lengths[owners] / max(1.0, lengths.mean()))
    passages.data = passages.data / (passages.data + norm) * rarity[passages.indices]
    queries = (batch.queries > 0).astype(np.float32)
    scores = np.asarray((queries @ passages.T).todense(), dtype=np.float32)
    return np.asarray(scores / np.maximum(scores.max(axis=1, keepdims=True), 1e-6))
