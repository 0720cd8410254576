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
from .retrieval.results import (
    Hit,
    Journal,
    Mode,
    Reason,
    SearchResponse,
    check_request,
    merge_equal_texts,
    respond,
)
from .retrieval.settings import settings
from .retrieval.stages.extraction import FeatureExtraction, extracted_fields
from .retrieval.stages.parents import expand_parents
from .retrieval.stages.rerank import rerank, reranker
from .retrieval.stages.rewriting import QueryRewriting
from .retrieval.stages.understanding import query_model, understand_query
from .retrieval.tokens import Token, query_terms
from .retrieval.weights import weights


def search_hybrid(
    query: str, top_k: int = 10, *, mode: Mode = "hybrid", filters: Filters | None = None
) -> SearchResponse:
    """Find the `top_k` chunks that answer a query, by meaning and by keywords.

    A score is 0.7 x cosine + 0.3 x BM25, each lane in [0, 1].
    The environment (SEMANTIC_WEIGHT, KEYWORD_WEIGHT) overrides the weights.
    The stages that follow may change the score, and leave passages out.
    A query that is nothing but an identifier is answered by keywords alone, if they find it.
    So is a query that cannot be embedded; the response is then marked degraded.

    Raises InvalidRequestError for a request that no search can answer.
    """
    check_request(query, top_k, mode)
    journal = Journal()
    index = current_index()
    understood = understand_query(
        index,
        query,
        filters,
        journal,
        query_model(),
        [QueryRewriting(), FeatureExtraction(extracted_fields(), confidence=0.7)],
        deadline_ms=2000,
    )
    asked, query, filters = query, understood.query, understood.filters

    searched, tokens = index.tokenizer.tokenize_query(query)
    if searched != query:
        journal.note("query_length", searched=searched)
    terms = query_terms(tokens)
    allowed = index.filters.select(filters)
    patterns = settings().identifier_patterns
    unknown = find_unknown_identifiers(
        index, asked, index.tokenizer.tokenize_query(asked)[1], patterns
    )
    journal.unknown_identifiers = unknown
    answer = partial(_refine, index, asked, top_k, journal, tokens, allowed)

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
    semantic = index.dense_lane.search(vector, depth, allowed)
    if mode == "semantic":
        return answer(semantic_candidates(semantic), mode="semantic", reason="requested")

    candidates = complete_lanes(
        index.keyword_lane, index.dense_lane, terms, vector, keyword, semantic
    )
    candidates = fuse_linear(candidates, *weights())
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
    if reason not in ("identifier", "requested"):
        candidates = rerank(candidates, index, query, journal, reranker(), hits=5, deadline_ms=1000)
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
    hits = merge_equal_texts(hits, count=top_k)
    hits = expand_parents(hits, index, journal)
    return hits
