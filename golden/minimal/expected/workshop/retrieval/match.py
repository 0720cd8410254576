"""Grades how well the best keyword hit matches a query: by the rarity of the terms it contains."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..index.heading_terms import HEADING_MARK
from ..index.idf import idf
from ..index.patterns import SPACELESS
from ..index.protocols import LaneHits
from ..index.reader import Index
from .candidates import Candidates
from .results import Match

STRONG_COVERAGE, WEAK_COVERAGE = 0.18, 0.06  # Thresholds for keyword search.
MOST_ABSENT = 0.35  # Share of the query's weight that terms in no chunk may have
LEAST_CHUNKS = 1_000  # Smaller indexes also lack common words.
_PAIR = re.compile(f"[{SPACELESS}]{{2}}")


def term_weights(index: Index, terms: Iterable[str]) -> dict[str, float]:
    """Return the inverse document frequency of each term, as in BM25; heading terms are left out.

    Bigrams of scripts without spaces may weigh less; see `_weigh_bigrams`.
    """
    plain = (term for term in sorted(set(terms)) if not term.startswith(HEADING_MARK))
    weights = {term: idf(index.keyword_lane.frequency(term), index.chunk_count) for term in plain}
    pairs = {term: weight for term, weight in weights.items() if _PAIR.fullmatch(term)}
    return {**weights, **_weigh_bigrams(pairs, idf(0, index.chunk_count))} if pairs else weights


def _weigh_bigrams(pairs: dict[str, float], rarest: float) -> dict[str, float]:
    """Return the weight of each bigram, at most that of a neighbour, as it may join two words.

    A bigram that is in no chunk weighs nothing if both neighbours are in chunks.
    """
    ends: dict[str, float] = {}
    beginnings: dict[str, float] = {}
    for pair, weight in pairs.items():
        beginnings[pair[0]] = min(weight, beginnings.get(pair[0], math.inf))
        ends[pair[1]] = min(weight, ends.get(pair[1], math.inf))
    weights = dict[str, float]()
    for pair, weight in pairs.items():
        beside = ends.get(pair[0], math.inf), beginnings.get(pair[1], math.inf)
        joins_words = weight == rarest and max(beside) < rarest
        weights[pair] = 0.0 if joins_words else min(weight, *beside)
    return weights


def compare_with_terms(
    keyword: LaneHits, index: Index, terms: Sequence[str], unknown: Sequence[str] = ()
) -> LaneHits:
    """Return the keyword hits with `coverage` and `doubted` filled in; see `LaneHits`.

    With `unknown` identifiers, `missing_score` is filled in too.
    """
    weights = term_weights(index, terms)
    if len(keyword) and weights:
        whole, rarest = sum(weights.values()), idf(0, index.chunk_count)
        absent = sum(weight for weight in weights.values() if weight == rarest) / whole
        doubted = bool(unknown) or (absent > MOST_ABSENT and index.chunk_count >= LEAST_CHUNKS)
        coverage = min(1.0, float(keyword.scores[0]) / whole)
        keyword = replace(keyword, coverage=coverage, doubted=doubted)
    if not unknown:
        return keyword
    theirs = {term for text in unknown for term in index.tokenizer.terms(text)}
    missing = [t for t in terms if t in theirs and not index.keyword_lane.frequency(t)]
    # If every term exists, the whole identifier counts as one missing term, since no chunk with all
    # its terms contains it.
    return replace(keyword, missing_score=max(1, len(missing)) * idf(0, index.chunk_count))


def judge_terms(candidates: Candidates) -> Match:
    """Grade the match by `coverage`; see `LaneHits`."""
    coverage = candidates.coverage if len(candidates.chunks) else None
    return grade(coverage or 0.0, STRONG_COVERAGE, WEAK_COVERAGE, candidates.doubted)


def grade(evidence: float, strong: float, weak: float, doubted: bool = False) -> Match:
    """Grade a match by its evidence; never strong if doubted."""
    strong = math.inf if doubted else strong
    return "strong" if evidence >= strong else "weak" if evidence >= weak else "none"
