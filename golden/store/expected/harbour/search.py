"""How this server searches: every step of it, in order."""

from functools import partial

from .opening import current_index
from .retrieval.candidates import (
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
from .retrieval.results import Journal, Mode, SearchResponse, check_request, respond
from .retrieval.settings import settings
from .retrieval.tokens import query_terms
from .retrieval.weights import weights


def search_hybrid(
    query: str, top_k: int = 10, *, mode: Mode = "hybrid", filters: Filters | None = None
) -> SearchResponse:
    """Find the `top_k` chunks that answer a query, by meaning and by keywords.

    A score is 0.7 x cosine + 0.3 x BM25, each lane in [0, 1].
    The environment (SEMANTIC_WEIGHT, KEYWORD_WEIGHT) overrides the weights.
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
    answer = partial(respond, index, query, top_k, journal)

    keyword = index.keyword_lane.search(terms, candidate_count(top_k), allowed)
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
    semantic = index.dense_lane.search(vector, candidate_count(top_k), allowed)
    if mode == "semantic":
        return answer(semantic_candidates(semantic), mode="semantic", reason="requested")

    candidates = complete_lanes(
        index.keyword_lane, index.dense_lane, terms, vector, keyword, semantic
    )
    candidates = fuse_linear(candidates, *weights())
    return answer(candidates, mode="hybrid", reason="default")
