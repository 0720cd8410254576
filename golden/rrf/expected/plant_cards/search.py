"""How this server searches, step by step."""

from .index.heading_terms import query_terms
from .opening import current_index
from .retrieval.candidates import FIRST_DEPTH, Candidates, candidate_count
from .retrieval.equal_texts import merge_equal_texts
from .retrieval.filters import FilterColumns, Filters, note_empty_filters
from .retrieval.fusion_rrf import fuse_rrf
from .retrieval.grouping import add_more, best_of_documents
from .retrieval.hybrid import by_meaning, choose_weights, complete_lanes, judge, prefer_named
from .retrieval.identifiers import finds_identifier, note_unknown_identifiers
from .retrieval.journal import Group, Journal, Mode, afford_terms, early_budget
from .retrieval.match import compare_with_terms
from .retrieval.plain_text import note_plain_operators
from .retrieval.respelling import respell
from .retrieval.results import SearchResponse, rank_hits, respond
from .settings import identifier_patterns


def search_hybrid(
    query: str,
    top_k: int = 10,
    *,
    mode: Mode = "hybrid",
    filters: Filters | None = None,
    offset: int = 0,
    group: Group | None = None,
    lane_weights: tuple[float, float] | None = None,
) -> SearchResponse:
    """Find the `top_k` best chunks for a query, with semantic and keyword search.

    A hybrid score is the sum of weight / (k + rank) over both lanes, with weights of 0.5
    (semantic) and 0.5 (keyword), scaled to 1 for a chunk that is first in both; `prefer_named`
    adds to it. It orders chunks, but does not show how well one matches.
    A query that cannot be embedded, or an identifier that is found, is answered by keywords only.
    `lane_weights` override the weights of the semantic and the keyword lane for this search.
    The first `offset` hits are skipped. With `group`, a hit is the best chunk of a document, and
    its `more` are the next best ones of the same document.
    Raises InvalidRequestError for arguments out of range.
    """
    journal = Journal.begin(query, top_k, mode, offset, group)
    wanted = journal.wanted
    index = current_index()
    journal.units = early_budget(index, query)
    patterns = identifier_patterns()
    note_plain_operators(journal)

    searched, tokens = index.tokenizer.tokenize_query(query)
    if searched != query:
        journal.note_length(searched)
    tokens = respell(index, tokens, journal)
    terms = query_terms(tokens)
    terms = afford_terms(index, terms, journal)
    allowed = index.part(FilterColumns.open).select(filters)
    note_empty_filters(index, filters, allowed, journal)
    note_unknown_identifiers(index, query, tokens, patterns, journal)

    # Ten times as many if only the best of each document is shown.
    times = 10 if group else 1
    depth = times * candidate_count(wanted)
    keyword = index.keyword_lane.search(terms, depth, allowed)
    keyword = compare_with_terms(keyword, index, terms, journal.unknown_identifiers)
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
            lane_weights = choose_weights(lane_weights)
            candidates = fuse_rrf(candidates, *lane_weights, k=60)
            candidates = prefer_named(candidates, index, terms)

    candidates = candidates.with_first_depth(times * FIRST_DEPTH)
    listed = best_of_documents(candidates, index) if group else candidates
    hits = rank_hits(index, listed, wanted)
    hits = merge_equal_texts(hits, wanted)
    if group:
        hits = add_more(hits, index, candidates, journal)
    return respond(journal, hits, judge(index, candidates))
