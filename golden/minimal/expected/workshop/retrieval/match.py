"""Tells how good the best match of a search is, so that what is not in the documents is not found.

Two observations add up to the evidence: how near the best hit is to the query, beyond what is near
to any question whatever (the `background` of the index), and how much of the query's terms the best
hit of the keyword lane has, each term weighted by its rarity. On five English collections 1 to 11 %
of their own questions stay below `STRONG`, and 97 % of those of the others do.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from ..index.reader import Index
from .candidates import Candidates, LaneHits
from .tokens import HEADING_MARK

Match = Literal["strong", "weak", "none"]

COVERAGE_WEIGHT = 1.8  # Beside the nearness of meaning; both are from 0 to 1.
STRONG, WEAK = 0.65, 0.3
STRONG_COVERAGE, WEAK_COVERAGE = 0.18, 0.12  # Of a search by keywords alone.
STRONG_NEARNESS, WEAK_NEARNESS = 0.1, 0.05  # Of a search by meaning alone.


def term_weights(index: Index, terms: Iterable[str]) -> dict[str, float]:
    """Return the inverse document frequency of each term, as BM25 has it, but of headings."""
    plain = (term for term in sorted(set(terms)) if not term.startswith(HEADING_MARK))
    return {term: _weight(index, index.keyword_lane.frequency(term)) for term in plain}


def _weight(index: Index, frequency: int) -> float:
    return math.log(1 + (index.chunk_count - frequency + 0.5) / (frequency + 0.5))


def compare_with_terms(
    keyword: LaneHits, index: Index, terms: Sequence[str], unknown: Sequence[str]
) -> LaneHits:
    """Return the keyword lane's hits, with what the best one has and lacks of the query's terms.

    It lacks the most that each term of an `unknown` identifier that no chunk has could have added.
    """
    weights = term_weights(index, terms)
    if len(keyword) and weights:
        coverage = min(1.0, float(keyword.scores[0]) / sum(weights.values()))
        keyword = replace(keyword, coverage=coverage)
    if not unknown:
        return keyword
    theirs = {term for text in unknown for term in index.tokenizer.terms(text)}
    missing = [t for t in terms if t in theirs and not index.keyword_lane.frequency(t)]
    # If no term is missing, reading has told that the identifier itself is.
    return replace(keyword, missing_score=max(1, len(missing)) * _weight(index, 0))


def judge(index: Index, candidates: Candidates) -> Match:
    """Return how good the best of the candidates is."""
    if not len(candidates.chunks):
        return "none"
    coverage, dense = candidates.coverage, index.manifest.dense
    if candidates.semantic is None or dense is None:
        evidence, strong, weak = coverage or 0.0, STRONG_COVERAGE, WEAK_COVERAGE
    else:
        cosine = float(candidates.semantic.max(initial=0.0, where=candidates.semantic >= 0))
        evidence = max(0.0, (cosine - dense.background) / (1 - dense.background))
        strong, weak = STRONG_NEARNESS, WEAK_NEARNESS
        if coverage is not None:
            evidence += COVERAGE_WEIGHT * coverage
            strong, weak = STRONG, WEAK
    return "strong" if evidence >= strong else "weak" if evidence >= weak else "none"
