"""How this server searches: every step of it, in order."""

from .index.reader import current_index
from .index.tokens import query_terms
from .retrieval.candidates import Candidates, candidate_count
from .retrieval.filters import FilterColumns, Filters
from .retrieval.fusion_rrf import fuse_rrf
from .retrieval.hybrid import by_meaning, complete_lanes, judge, prefer_named, weights
from .retrieval.identifiers import find_unknown_identifiers, finds_identifier
from .retrieval.journal import Journal, Mode, afford_terms, early_budget
from .retrieval.plain_text import tell_of_operators
from .retrieval.results import (
    SearchResponse,
    compare_with_terms,
    merge_equal_texts,
    rank_hits,
    respond,
)
from .retrieval.settings import settings


def search_hybrid(
    query: str, top_k: int = 10, *, mode: Mode = "hybrid", filters: Filters | None = None
) -> SearchResponse:
    """Find the `top_k` best chunks for a query, by meaning and by keywords.

    A hybrid score is the sum of weight / (k + rank) over both lanes, with weights of
    0.5 (semantic) and 0.5 (keyword),
    scaled to 1 for a chunk that is first in both; `prefer_named` adds to it. It orders chunks, but
    does not say how well one fits.
    Keywords alone answer an identifier that they find, and a query without a vector.
    Raises InvalidRequestError for arguments out of range.
    """
    journal = Journal.begin(query, top_k)
    journal.choose(mode)
    index = current_index()
    journal.units = early_budget(index, query)
    tell_of_operators(journal)
    patterns = settings().identifier_patterns

    searched, tokens = index.tokenizer.tokenize_query(query)
    if searched != query:
        journal.note("query_length", searched=searched)
    terms = query_terms(tokens)
    terms = afford_terms(index, terms, journal)
    allowed = index.part(FilterColumns.open).select(filters)
    unknown = journal.unknown_identifiers = find_unknown_identifiers(
        index, query, tokens, patterns, journal
    )

    depth = candidate_count(top_k)
    keyword = index.keyword_lane.search(terms, depth, allowed)
    keyword = compare_with_terms(keyword, index, terms, unknown)
    if mode == "keyword":
        candidates, journal.reason = Candidates.by_keyword(keyword), "requested"
    elif mode == "hybrid" and finds_identifier(keyword, index, query, tokens, patterns):
        candidates, journal.reason = Candidates.by_keyword(keyword), "identifier"
    elif (vector := index.encoder.encode(searched)) is None:
        candidates, journal.reason = Candidates.by_keyword(keyword), "no_vectors"
    else:
        semantic = index.dense_lane.search(vector, depth, allowed)
        if mode == "semantic":
            candidates, journal.reason = by_meaning(semantic), "requested"
        else:
            candidates = complete_lanes(index, terms, vector, keyword, semantic)
            candidates = fuse_rrf(candidates, *weights(), k=60)
            candidates = prefer_named(candidates, index, terms)

    hits = merge_equal_texts(rank_hits(index, candidates, top_k), count=top_k)
    return respond(journal, hits, judge(index, candidates))
