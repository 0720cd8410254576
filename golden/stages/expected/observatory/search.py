"""How this server searches: every step of it, in order."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .index.reader import Index
from .opening import current_index
from .retrieval.candidates import (
    Candidates,
    candidate_count,
    complete_lanes,
    keyword_candidates,
    semantic_candidates,
)
from .retrieval.filters import Filters
from .retrieval.fusion.linear import fuse_linear
from .retrieval.identifiers import (
    find_unknown_identifiers,
    finds_identifier,
    is_identifier_query,
    score_against_unknown,
)
from .retrieval.results import Hit, Journal, Mode, Reason, SearchResponse, check_request, respond
from .retrieval.settings import settings
from .retrieval.stages.adaptive_weights import adapt_weights
from .retrieval.stages.anchors import boost_anchors
from .retrieval.stages.document_cap import cap_documents
from .retrieval.stages.expansion import expand_query
from .retrieval.stages.feedback import boost_feedback
from .retrieval.stages.heuristics import rerank_heuristically
from .retrieval.stages.links import add_linked
from .retrieval.stages.minimum_score import require_lane_score, require_score
from .retrieval.stages.near_duplicates import merge_near_duplicates
from .retrieval.stages.recency import boost_by_tiers, today
from .retrieval.tokens import Token, query_terms
from .retrieval.weights import weights


def search_hybrid(
    query: str, top_k: int = 10, *, mode: Mode = "hybrid", filters: Filters | None = None
) -> SearchResponse:
    """Find the `top_k` chunks that answer a query, by meaning and by keywords.

    A score is 0.7 x cosine + 0.3 x BM25, each lane in [0, 1].
    The environment (SEMANTIC_WEIGHT, KEYWORD_WEIGHT) overrides the weights.
    For some queries, a stage changes the weights.
    The stages that follow may change the score, and leave passages out.
    A query that is nothing but an identifier is answered by keywords alone, if they find it.
    So is a query that cannot be embedded; the response is then marked degraded.

    Raises InvalidRequestError for a request that no search can answer.
    """
    check_request(query, top_k, mode)
    journal = Journal()
    index = current_index()

    searched, tokens = index.tokenizer.tokenize_query(query)
    if searched != query:
        journal.note("query_length", searched=searched)
    terms = query_terms(tokens)
    allowed = index.filters.select(filters)
    patterns = settings().identifier_patterns
    unknown = find_unknown_identifiers(index, query, tokens, patterns)
    journal.unknown_identifiers = unknown
    answer = partial(_refine, index, query, top_k, journal, tokens, allowed)

    # Many, so that enough are left for `_choose`.
    depth = 10 * candidate_count(top_k)
    keyword = index.keyword_lane.search(terms, depth, allowed)
    keyword = score_against_unknown(keyword, index, terms, unknown)
    if mode == "keyword":
        return answer(keyword_candidates(keyword), mode="keyword", reason="requested")
    is_identifier = not unknown and is_identifier_query(query, tokens, patterns)
    if mode == "hybrid" and is_identifier and finds_identifier(keyword, index, tokens, patterns):
        return answer(keyword_candidates(keyword), mode="keyword", reason="identifier")

    vector = index.encoder.encode(searched)
    if vector is None:
        return answer(
            keyword_candidates(keyword), mode="keyword", reason="no_vectors", degraded=True
        )
    vector = expand_query(
        index, index.encoder, searched, tokens, vector, journal, terms=2, minimum_cosine=0.4
    )
    semantic = index.dense_lane.search(vector, depth, allowed)
    if mode == "semantic":
        return answer(semantic_candidates(semantic), mode="semantic", reason="requested")

    candidates = complete_lanes(
        index.keyword_lane, index.dense_lane, terms, vector, keyword, semantic
    )
    semantic_weight, keyword_weight = adapt_weights(
        tokens,
        patterns,
        *weights(),
        journal,
        mostly=0.5,
        mostly_semantic_weight=0.3,
        partly=0.2,
        partly_semantic_weight=0.5,
    )
    candidates = fuse_linear(candidates, semantic_weight, keyword_weight)
    candidates = boost_feedback(candidates, index, gain=0.3)
    return answer(candidates, mode="hybrid", reason="default")


def _refine(
    index: Index,
    query: str,
    top_k: int,
    journal: Journal,
    tokens: list[Token],
    allowed: NDArray[np.bool_] | None,
    candidates: Candidates,
    *,
    mode: Mode,
    reason: Reason,
    degraded: bool = False,
) -> SearchResponse:
    """Put what was found, in whichever mode, through the stages that follow."""
    candidates = boost_anchors(
        candidates, index.keyword_lane, tokens, settings().identifier_patterns, factor=1.1
    )
    candidates = boost_by_tiers(
        candidates, index.filters.modified, today(), tiers=[(14, 1.2), (60, 1.05)]
    )
    candidates = add_linked(candidates, index, allowed, journal, seeds=2, neighbours=3, factor=0.7)
    candidates = require_lane_score(candidates, journal, semantic=0.1)
    candidates = rerank_heuristically(
        candidates, index, tokens, hits=50, entities_gain=0.3, category_gain=0.1
    )
    candidates = require_score(candidates, journal, minimum=0.05)
    choose = partial(_choose, index, top_k, journal)
    return respond(
        index,
        query,
        top_k,
        journal,
        candidates,
        choose,
        mode=mode,
        reason=reason,
        degraded=degraded,
    )


def _choose(index: Index, top_k: int, journal: Journal, hits: Iterator[Hit]) -> Iterator[Hit]:
    """Choose among all that was found, best first; the first `top_k` are the results."""
    hits = merge_near_duplicates(
        hits, index.tokenizer.tokenize, journal, depth=2 * top_k, similarity=0.8
    )
    hits = cap_documents(hits, journal, most=2)
    return hits
