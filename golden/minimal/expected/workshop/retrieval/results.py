"""The response to a query, the same in every interface: hits, and the grade of the match."""

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal, TypeAlias

from ..index.protocols import Numbers, Scores
from ..index.reader import Index
from ..index.records import ChunkRecord, Passage, Place, Record
from .candidates import SCORE_DIGITS, Candidates
from .facet_counts import Facets
from .journal import Journal, Mode, Reason

Match = Literal["strong", "weak", "none"]
SPARE_HITS = 6  # Some hits may be merged; one more shows whether more follow.
Span: TypeAlias = tuple[int, int]  # Offsets of the first character and after the last
HEDGES: Mapping[Match, str] = {
    "weak": "The documents may not answer this",
    "none": "Nothing in the documents matches well",
}
"""The caution that every interface shows unless the match is strong."""


@dataclass(slots=True)
class LaneScores(Record):
    """The score in each lane; null if the lane has none."""

    semantic: float | None
    keyword: float | None
    rerank: float | None = None  # Score of the reranking model.


@dataclass(slots=True)
class LaneRanks(Record):
    """The rank in each lane, from 1; null if the lane did not find the chunk."""

    semantic: int | None
    keyword: int | None


@dataclass(slots=True)
class Highlights(Record):
    """Spans of the query's words in the snippet, the title and each heading."""

    snippet: list[Span]
    title: list[Span]
    section: list[list[Span]]


@dataclass(slots=True)
class Hit(ChunkRecord):
    """A passage that was found.

    `near_duplicates` are the ids of hits merged into this one; `also_at` includes their places.
    """

    score: float = field(metadata={"ge": 0, "le": 1})
    scores: LaneScores
    ranks: LaneRanks
    boosts: dict[str, float]  # Factors applied to the score, by stage
    near_duplicates: tuple[str, ...] = ()
    passage: Passage | None = None  # The parent passage.
    pinned: bool = False  # Pinned to this query by the owner.
    snippet: str | None = None
    highlights: Highlights | None = None
    snippet_code: tuple[Span, ...] = ()  # Spans of code in the snippet
    more: tuple["Hit", ...] = ()  # The document's next best hits, if hits are grouped

    def standing_for(self, others: Sequence["Hit"]) -> "Hit":
        """Return this hit with the ids and places of `others`, best first, merged into it."""
        if not others:
            return self
        places = [*self.also_at]
        for hit in others:
            own = Place(hit.document_id, hit.source, hit.path, hit.url, hit.title)
            places += [one for one in (own, *hit.also_at) if one not in places]
        places = [place for place in places if place.document_id != self.document_id]
        return replace(self, near_duplicates=tuple(hit.id for hit in others), also_at=places)


@dataclass(frozen=True, slots=True)
class SearchResponse(Record):
    """The response to one query: its hits, best first, ties in index order.

    `match` grades the best hit; it is `none` if hardly anything suggests that it answers.
    `unknown_identifiers` occur in no document. `stages` reports what stages changed, skipped, or
    failed to do.
    """

    query: str
    mode: Mode  # The mode used; `reason` explains it.
    reason: Reason
    degraded: bool  # Whether semantic search was requested but unavailable
    match: Match
    unknown_identifiers: tuple[str, ...]
    took_ms: float
    stages: Mapping[str, dict[str, Any]]
    hits: tuple[Hit, ...] = field(metadata={"alias": "results"})
    facets: Facets | None = None
    explanation: tuple[str, ...] = ()  # Sentences about each stage.
    # The query that was searched for, if a wrapper of the search replaced it
    searched: str | None = field(default=None, metadata={"exclude": True})

    def covers(self, chunk: ChunkRecord) -> bool:
        """Return whether a chunk is a hit, or may have been left out in favour of one."""
        if any(chunk.id in (hit.id, *hit.near_duplicates) for hit in self.hits):
            return True
        # Stages that drop or merge hits note how many. A hit lists the other versions of its page.
        left_out = any(details.keys() & {"left_out", "merged"} for details in self.stages.values())
        places = {place.document_id for hit in self.hits for place in hit.also_at}
        places.update(hit.document_id for hit in self.hits)
        return left_out and chunk.document_id in places


def notices_of(stages: Mapping[str, dict[str, Any]]) -> list[str]:
    """Return the notices of all stages."""
    return [details["notice"] for details in stages.values() if "notice" in details]


def searched_query(query: str, stages: Mapping[str, dict[str, Any]]) -> str:
    """Return a query as it was searched for: with corrected words, and without operators."""
    found = (stages.get(name, {}).get("query") for name in ("correction", "operators"))
    return next(filter(None, found), query)


def rank_hits(index: Index, candidates: Candidates, count: int) -> Iterator[Hit]:
    """Yield all candidates as hits, best first; callers read about `count` of them."""
    lanes = candidates.semantic, candidates.keyword, candidates.rerank
    ranks = candidates.semantic_ranks, candidates.keyword_ranks
    best, start, at_once = candidates.best_places(), 0, count + SPARE_HITS
    while start < len(best):
        places = best[start : start + at_once]
        # A caller that reads past the first batch usually reads many more.
        start, at_once = start + at_once, 2 * at_once
        ranks_shown = [[rank or None for rank in each[places].tolist()] for each in ranks]
        columns: dict[str, Iterable[Any]] = {
            "score": candidates.scores[places].tolist(),
            "scores": map(LaneScores, *[_shown(lane, places) for lane in lanes]),
            "ranks": map(LaneRanks, *ranks_shown),
            "boosts": _boosts_of(candidates, places),
        }
        more = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
        rows = zip(candidates.chunks[places].tolist(), more, strict=True)
        yield from index.chunk_lines.each(Hit, rows)


def _boosts_of(candidates: Candidates, places: Numbers) -> Iterator[dict[str, float]]:
    for place in places.tolist():
        yield {
            name: round(float(factors[place]), SCORE_DIGITS)
            for name, factors in candidates.boosts.items()
            if factors[place] != 1
        }


def _shown(scores: Scores | None, places: Numbers) -> list[float | None]:
    """Return the scores of candidates, rounded as in a response."""
    if scores is None:
        return [None] * len(places)
    rounded = scores[places].round(SCORE_DIGITS).tolist()
    return [None if math.isnan(score) else score for score in rounded]


def respond(journal: Journal, hits: Iterator[Hit], match: Match) -> SearchResponse:
    """Return the response, with up to `top_k` of the `hits` after the first `offset`."""
    # Stages that leave out hits write to the journal while the hits are read.
    results = tuple(islice(hits, journal.offset, journal.wanted))
    if journal.reason == "identifier":
        match = "strong"
    # A word that the user typed is in no document.
    if match == "strong" and journal.stages.get("correction", {}).get("corrected"):
        match = "weak"
    if any(hit.pinned for hit in results):
        match = "strong"
    return SearchResponse(
        query=journal.query,
        mode=journal.mode if journal.reason in ("requested", "default") else "keyword",
        reason=journal.reason,
        degraded=journal.reason in ("embedder_unavailable", "no_vectors"),
        match=match,
        unknown_identifiers=journal.unknown_identifiers,
        took_ms=round((time.perf_counter() - journal.started) * 1000, 3),
        stages=journal.stages,
        hits=results,
        facets=journal.facets,
        explanation=journal.explain(),
    )
