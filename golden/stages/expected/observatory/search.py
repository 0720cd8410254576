"""How this server searches, step by step."""

from .index.heading_terms import query_terms
from .opening import current_index
from .retrieval.candidates import FIRST_DEPTH, Candidates, candidate_count
from .retrieval.filters import FilterColumns, Filters, note_empty_filters
from .retrieval.grouping import add_more, best_of_documents
from .retrieval.hybrid import (
    by_meaning,
    choose_weights,
    complete_lanes,
    fuse_linear,
    judge,
    prefer_named,
)
from .retrieval.identifiers import finds_identifier, note_unknown_identifiers
from .retrieval.journal import Group, Journal, Mode, afford_terms, early_budget
from .retrieval.match import compare_with_terms
from .retrieval.respelling import respell
from .retrieval.results import SearchResponse, rank_hits, respond
from .retrieval.stages.adaptive_weights import adapt_weights
from .retrieval.stages.anchors import boost_anchors
from .retrieval.stages.correction import correct_query
from .retrieval.stages.document_cap import cap_documents
from .retrieval.stages.expansion import expand_query
from .retrieval.stages.heuristics import rerank_heuristically
from .retrieval.stages.languages import note_language
from .retrieval.stages.links import add_linked
from .retrieval.stages.minimum_score import require_lane_score, require_score
from .retrieval.stages.narrowing import apply_operators
from .retrieval.stages.near_duplicates import merge_near_duplicates
from .retrieval.stages.operators import read_operators
from .retrieval.stages.pinned import pin_documents
from .retrieval.stages.recency import boost_by_tiers, today
from .retrieval.stages.synonyms import add_synonyms
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

    A hybrid score is 0.7 x cosine + 0.3 x BM25, each from 0 to 1; `prefer_named` adds to it.
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
    plain, operators = read_operators(index, query, journal)
    plain = correct_query(index, plain, patterns, journal)

    searched, tokens = index.tokenizer.tokenize_query(plain)
    if searched != plain:
        journal.note_length(searched)
    tokens = respell(index, tokens, journal)
    terms = query_terms(tokens)
    note_language(index, query, journal, share=0.02)
    searched, tokens, terms = add_synonyms(index, searched, tokens, terms, journal)
    terms = afford_terms(index, terms, journal)
    allowed = index.part(FilterColumns.open).select(filters)
    note_empty_filters(index, filters, allowed, journal)
    allowed = apply_operators(allowed, operators, index, journal, phrase_chunks=300)
    note_unknown_identifiers(index, plain, tokens, patterns, journal)

    # Ten times as many, because later stages leave some out.
    times = 10
    depth = times * candidate_count(wanted)
    keyword = index.keyword_lane.search(terms, depth, allowed)
    keyword = compare_with_terms(keyword, index, terms, journal.unknown_identifiers)
    if mode == "keyword":
        candidates, journal.reason = Candidates.by_keyword(keyword), "requested"
    elif mode == "hybrid" and finds_identifier(keyword, index, plain, tokens, patterns):
        candidates, journal.reason = Candidates.by_keyword(keyword), "identifier"
    elif (vector := index.encoder.encode(searched)) is None:
        candidates, journal.reason = Candidates.by_keyword(keyword), "no_vectors"
    else:
        vector = expand_query(index, searched, tokens, vector, journal, terms=2, minimum_cosine=0.4)
        semantic = index.dense_lane.search(vector, depth, allowed)
        if mode == "semantic":
            candidates, journal.reason = by_meaning(semantic), "requested"
        else:
            candidates = complete_lanes(index, terms, vector, keyword, semantic)
            lane_weights = choose_weights(lane_weights)
            lane_weights = adapt_weights(
                lane_weights,
                tokens,
                patterns,
                journal,
                mostly=0.5,
                mostly_semantic_weight=0.3,
                partly=0.2,
                partly_semantic_weight=0.5,
            )
            candidates = fuse_linear(candidates, *lane_weights)
            candidates = prefer_named(candidates, index, terms)

    candidates = candidates.with_first_depth(times * FIRST_DEPTH)
    candidates = boost_anchors(candidates, index, tokens, patterns, journal, factor=1.1)
    candidates = boost_by_tiers(candidates, index, today(), tiers=[(14, 1.2), (60, 1.05)])
    candidates = add_linked(candidates, index, allowed, journal, seeds=2, neighbours=3, factor=0.7)
    candidates = require_lane_score(candidates, journal, semantic=0.1)
    candidates = rerank_heuristically(
        candidates, index, tokens, hits=50, entities_gain=0.3, category_gain=0.1
    )
    candidates = require_score(candidates, journal, minimum=0.05)
    listed = best_of_documents(candidates, index) if group else candidates
    hits = rank_hits(index, listed, 2 * wanted)
    hits = pin_documents(hits, index, candidates, allowed, plain, journal)
    hits = merge_near_duplicates(hits, wanted, index, journal, similarity=0.8)
    hits = cap_documents(hits, journal, most=2)
    if group:
        hits = add_more(hits, index, candidates, journal)
    return respond(journal, hits, judge(index, candidates))
