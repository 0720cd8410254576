"""Declares the steps of every search, unless a stage replaces them."""

from collections.abc import Iterator, Sequence
from typing import Literal, Protocol

from foundry.features.calls import ASKED, Call
from foundry.features.search_step import SearchPlace, SearchStep


class Search(Protocol):
    """The keys of [search] that these steps use."""

    fusion: Literal["linear", "rrf"]
    k: int
    identifier_fallback: bool
    unknown_identifiers: bool


READ_PATTERNS = SearchStep(SearchPlace.BEGIN, Call("settings", "identifier_patterns"))
NOTE_PLAIN_OPERATORS = SearchStep(
    SearchPlace.PARSE, Call("retrieval.plain_text", "note_plain_operators", ("journal",)), sets=()
)
MERGE_EQUAL = SearchStep(
    SearchPlace.MERGE, Call("retrieval.equal_texts", "merge_equal_texts", ("hits", "wanted"))
)

_FUSED = ("candidates", "*lane_weights")
FUSIONS = {
    "linear": Call("retrieval.hybrid", "fuse_linear", _FUSED),
    "rrf": Call("retrieval.fusion_rrf", "fuse_rrf", _FUSED, ("k",)),
}
FUSION_WORDS = {
    "linear": "A hybrid score is {semantic_weight} x cosine + {keyword_weight} x BM25, each from 0"
    " to 1; `prefer_named` adds to it.",
    "rrf": "A hybrid score is the sum of weight / (k + rank) over both lanes, with weights of"
    " {semantic_weight} (semantic) and {keyword_weight} (keyword), scaled to 1 for a chunk that is"
    " first in both; `prefer_named` adds to it. It orders chunks, but does not show how well one"
    " matches.",
}
"""Sentences about each fusion, for the docstring of `search_hybrid`."""


def steps_of_search(
    search: Search, stages: Sequence[SearchStep], *, has_vectors: bool
) -> Iterator[SearchStep]:
    """Yield the steps of a search, except for the steps of stages."""
    reads_identifiers = search.unknown_identifiers or (has_vectors and search.identifier_fallback)
    if reads_identifiers or any("patterns" in step.call.names() for step in stages):
        yield READ_PATTERNS
    if not any("operators" in step.targets for step in stages):
        yield NOTE_PLAIN_OPERATORS
    if search.unknown_identifiers:
        yield _note_unknown(is_rewritten=any("rewritten" in step.targets for step in stages))
    if has_vectors:
        yield SearchStep(SearchPlace.FUSE, FUSIONS[search.fusion], values={"k": search.k})
    if not any(step.place is SearchPlace.MERGE for step in stages):
        yield MERGE_EQUAL


def _note_unknown(*, is_rewritten: bool) -> SearchStep:
    read = Call("retrieval.stages.rewriting", "tokens_of", ("index", ASKED, "journal"))
    asked = ("index", ASKED, read if is_rewritten else "tokens", "patterns", "journal")
    note = Call("retrieval.identifiers", "note_unknown_identifiers", asked)
    return SearchStep(SearchPlace.KNOW, note)
