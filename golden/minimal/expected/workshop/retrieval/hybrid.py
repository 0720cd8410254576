"""Hybrid search: joins the hits of both lanes, fuses their scores, and grades the match.

Linear fusion is a weighted sum of cosine and normalised BM25 (Bruch, Gai and Ingber 2023, An
Analysis of Fusion Functions for Hybrid Retrieval). The cosine is not rescaled per query: its
absolute value means the same for every query.

The grade depends on two observations: how much closer the best hit is to the query than chunks
usually are to any question (the `background` of the index), and the share of the query's terms in
the best keyword hit, weighted by rarity. If much of that weight belongs to terms that no chunk
contains, the match is never strong, since passages near such a question are about something else.
The threshold for `none` is low: a question that is worded differently from the documents has as
little evidence as most questions without an answer.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import ConfigurationError, InvalidRequestError
from ..index.heading_terms import HEADING_MARK
from ..index.protocols import LaneHits, Numbers, Scores, Vector
from ..index.reader import Index
from ..settings import SETTINGS_FILE, read_number, reading
from .candidates import Candidates
from .match import grade, judge_terms
from .results import Match

# Evidence for a match is nearness (0 to 1) + COVERAGE_WEIGHT * coverage (0 to 1).
COVERAGE_WEIGHT = 1.8
STRONG, WEAK = 0.59, 0.1
# Used if the query's distance from the chunks (usually below 5) is known. Its product with
# DISTANCE_WEIGHT is subtracted from the evidence.
FAR_COVERAGE_WEIGHT, DISTANCE_WEIGHT = 3.2, 0.12
FAR_STRONG, FAR_WEAK = 0.62, -0.15
NAME_GAIN = 0.8
STRONG_NEARNESS, WEAK_NEARNESS = 0.1, -0.06  # For semantic search without keywords.

Score = Callable[[Numbers], Scores]
"""Returns a lane's exact scores (m,) of chunks (m,) that it did not find."""


def by_meaning(semantic: LaneHits) -> Candidates:
    """Return the hits of the dense lane, scored by cosine alone."""
    order = np.argsort(semantic.chunks)
    scores = np.maximum(semantic.scores, 0.0)[order]
    unranked = np.zeros(len(order), dtype=np.int64)
    found = Candidates(semantic.chunks[order], scores, None, order + 1, unranked, scores)
    return found.with_scores(scores)


def complete_lanes(
    index: Index, terms: Sequence[str], vector: Vector, keyword: LaneHits, semantic: LaneHits
) -> Candidates:
    """Join the hits of both lanes, and compute the score of each hit in the other lane."""
    lane, score_terms = index.dense_lane, partial(index.keyword_lane.scores, terms)
    joined = join_lanes(keyword, semantic, score_terms, partial(lane.scores, vector))
    return replace(joined, distance=lane.distance(vector))


def join_lanes(
    keyword: LaneHits, semantic: LaneHits, score_terms: Score, score_vector: Score
) -> Candidates:
    """Join the hits of both lanes with exact scores in each; overall scores are 0 until fused.

    The score of a chunk therefore does not depend on how many hits a lane returned.
    """
    found = np.sort(np.concatenate([keyword.chunks, semantic.chunks]))
    chunks = found[np.diff(found, prepend=-1) > 0]  # Twice as fast as np.unique.
    cosines, semantic_ranks = _complete(semantic, chunks, score_vector)
    sums, keyword_ranks = _complete(keyword, chunks, keyword.score_of or score_terms)
    return Candidates(
        chunks=chunks,
        semantic=np.maximum(cosines, 0.0),
        keyword=sums / keyword.full_score,
        semantic_ranks=semantic_ranks,
        keyword_ranks=keyword_ranks,
        scores=np.zeros(len(chunks)),
        coverage=keyword.coverage or 0.0,
        doubted=keyword.doubted,
    )


def _complete(hits: LaneHits, chunks: Numbers, score: Score) -> tuple[Scores, Numbers]:
    """Return the scores and ranks of `chunks` (m,) in a lane; rank 0 if it did not find them."""
    places = chunks.searchsorted(hits.chunks)
    ranks = np.zeros(len(chunks), dtype=np.int64)
    ranks[places] = np.arange(1, len(hits) + 1)
    scores = np.empty(len(chunks))
    scores[places] = hits.scores
    missing = np.flatnonzero(ranks == 0)
    scores[missing] = score(chunks.take(missing))
    return scores, ranks


class Weights(NamedTuple):
    """The weights of the lanes in a hybrid search: not negative, and not both 0."""

    semantic: float
    keyword: float


@cache
def weights(file: Path = SETTINGS_FILE) -> Weights:
    """Read the weights from settings.json and the environment. Raises ConfigurationError."""
    semantic, keyword = read_number("SEMANTIC_WEIGHT"), read_number("KEYWORD_WEIGHT")
    place = "SEMANTIC_WEIGHT and KEYWORD_WEIGHT, or set both"
    if semantic is None and keyword is None:
        place = f"semantic_weight and keyword_weight in {file}"
        with reading(file) as values:
            semantic, keyword = float(values["semantic_weight"]), float(values["keyword_weight"])
    if semantic is None:
        semantic = round(1 - (keyword or 0), 6)
    if keyword is None:
        keyword = round(1 - semantic, 6)
    if not _are_usable(semantic, keyword):
        raise ConfigurationError(
            f"the lane weights are {semantic:g} and {keyword:g}, but their sum must be"
            " above 0, and a single weight at most 1",
            hint=f"correct {place}",
        )
    return Weights(semantic, keyword)


def _are_usable(semantic: float, keyword: float) -> bool:
    return semantic >= 0 and keyword >= 0 and 0 < semantic + keyword < math.inf


def choose_weights(own: tuple[float, float] | None) -> Weights:
    """Return the caller's weights, or the server's defaults.

    Raises InvalidRequestError for invalid weights.
    """
    if own is None:
        return weights()
    if not _are_usable(*own):
        raise InvalidRequestError("must not be negative, nor both 0", field="lane_weights")
    return Weights(*own)


def fuse_linear(
    candidates: Candidates, semantic_weight: float, keyword_weight: float
) -> Candidates:
    """Score candidates by the weighted mean of both lanes' scores."""
    assert candidates.semantic is not None and candidates.keyword is not None
    weighted = semantic_weight * candidates.semantic + keyword_weight * candidates.keyword
    return candidates.with_scores(weighted / (semantic_weight + keyword_weight))


def prefer_named(candidates: Candidates, index: Index, terms: Sequence[str]) -> Candidates:
    """Raise the scores of chunks whose headings the query names.

    The chunk that matches the names best gains `NAME_GAIN` of its distance to 1, others less.
    """
    names = [term for term in terms if term.startswith(HEADING_MARK)]
    found = index.keyword_lane.scores(names, candidates.chunks)
    shares = NAME_GAIN * found / (found.max(initial=0.0) or 1.0)
    return candidates.boosted("named", 1 + shares * (1 / np.maximum(candidates.scores, 0.01) - 1))


def judge(index: Index, candidates: Candidates) -> Match:
    """Grade the match of the best candidate."""
    coverage, dense = candidates.coverage, index.manifest.dense
    if candidates.semantic is None or dense is None or not len(candidates.chunks):
        return judge_terms(candidates)
    cosine = float(np.fmax.reduce(candidates.semantic, initial=0.0))  # fmax ignores NaN.
    nearness = (cosine - dense["background"]) / (1 - dense["background"])
    if coverage is None:
        return grade(nearness, STRONG_NEARNESS, WEAK_NEARNESS)
    nearness = max(0.0, nearness)
    if candidates.distance is None:
        return grade(nearness + COVERAGE_WEIGHT * coverage, STRONG, WEAK, candidates.doubted)
    rest = FAR_COVERAGE_WEIGHT * coverage - DISTANCE_WEIGHT * candidates.distance
    return grade(nearness + rest, FAR_STRONG, FAR_WEAK, candidates.doubted)
