"""How this server searches: every step of it, in order."""

from .index.reader import current_index
from .index.tokens import query_terms
from .retrieval.candidates import Candidates, candidate_count
from .retrieval.filters import FilterColumns, Filters
from .retrieval.hybrid import by_meaning, fuse_linear, judge, prefer_named, weights
from .retrieval.identifiers import find_unknown_identifiers, finds_identifier, is_identifier_query
from .retrieval.journal import Journal, Mode, afford_terms, early_budget
from .retrieval.plain_text import tell_of_operators
from .retrieval.results import SearchResponse, merge_equal_texts, rank_hits, respond
from .retrieval.settings import settings
from .store.lanes import StoredSearch
from .store.restriction import restrict


def search_hybrid(
    query: str, top_k: int = 10, *, mode: Mode = "hybrid", filters: Filters | None = None
) -> SearchResponse:
    """Find the `top_k` best chunks for a query, by meaning and by keywords.

    A hybrid score is 0.7 x cosine + 0.3 x BM25, each from 0 to 1; `prefer_named` adds to it.
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
    only = restrict(allowed, filters)
    lanes = StoredSearch(index, terms, depth, only, unknown)
    if mode == "keyword":
        candidates, journal.reason = Candidates.by_keyword(lanes.keyword), "requested"
    elif (
        mode == "hybrid"
        and is_identifier_query(query, tokens, patterns)
        and finds_identifier(lanes.keyword, index, query, tokens, patterns)
    ):
        candidates, journal.reason = Candidates.by_keyword(lanes.keyword), "identifier"
    elif (vector := index.encoder.encode(searched)) is None:
        candidates, journal.reason = Candidates.by_keyword(lanes.keyword), "no_vectors"
    else:
        semantic = lanes.search_both(vector)
        if mode == "semantic":
            candidates, journal.reason = by_meaning(semantic), "requested"
        else:
            candidates = lanes.complete(vector, semantic)
            candidates = fuse_linear(candidates, *weights())
            candidates = prefer_named(candidates, index, terms)

    hits = merge_equal_texts(rank_hits(index, candidates, top_k), count=top_k)
    return respond(journal, hits, judge(index, candidates))
