"""Linear fusion: a weighted sum of cosine and normalised BM25.

    score = (w_semantic * max(0, cosine) + w_keyword * bm25 / max bm25) / (w_semantic + w_keyword)

(Bruch, Gai and Ingber 2023, An Analysis of Fusion Functions for Hybrid Retrieval.) The cosine is
taken as it is: it means the same for every query, and stretching it over the candidates loses that.
"""

from .candidates import Candidates


def fuse_linear(
    candidates: Candidates, semantic_weight: float, keyword_weight: float
) -> Candidates:
    """Score candidates of both lanes; weights are not negative and not both 0."""
    assert candidates.semantic is not None and candidates.keyword is not None
    weighted = semantic_weight * candidates.semantic + keyword_weight * candidates.keyword
    return candidates.with_scores(weighted / (semantic_weight + keyword_weight))
