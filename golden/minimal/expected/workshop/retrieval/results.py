"""The response to a query, the same in every interface: hits, and the grade of the match."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..index.lines import StoredLine, line_of
from ..index.protocols import LaneHits, Numbers, Scores
from ..index.reader import Index
from ..index.records import ChunkRecord, Passage, Place, Record
from ..index.tokens import HEADING_MARK
from .candidates import SCORE_DIGITS, Candidates
from .facet_counts import Facets
from .journal import Journal, Mode, Reason

Match = Literal["strong", "weak", "none"]
SPARE_HITS = 6  # Some hits may be merged; one more shows whether more follow.
STRONG_COVERAGE, WEAK_COVERAGE = 0.18, 0.06  # Thresholds for keyword search.
MOST_ABSENT = 0.35  # Share of the query's weight that terms in no chunk may have
LEAST_CHUNKS = 1_000  # Smaller indexes also lack common words.
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


class _Unread(ChunkRecord):
    """A hit whose other fields are read when one of them is used: pages skip most hits."""

    __slots__ = ("fill", "line")
    line: StoredLine | None
    fill: "Callable[[Hit], object]"

    if not TYPE_CHECKING:  # Mypy would accept any name.

        def __getattr__(self, name: str) -> Any:
            """Fill in all fields; called for one that is not set yet."""
            if name not in HIT_FIELDS:
                raise AttributeError(name)
            self.fill(self)
            return getattr(self, name)

    def _fill_later(self, fill: "Callable[[Hit], object]", line: StoredLine | None) -> None:
        self.fill, self.line = fill, line


@dataclass(slots=True)
class Hit(_Unread):
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

    @classmethod
    def unread(
        cls,
        ids: tuple[str, str],
        score: float,
        fill: "Callable[[Hit], object]",
        *,
        pinned: bool = False,
        line: StoredLine | None = None,
    ) -> "Hit":
        """Return a hit with these fields; `fill` sets all when others are used."""
        hit = cls.__new__(cls)
        (hit.id, hit.document_id), hit.score, hit.pinned = ids, score, pinned
        hit._fill_later(fill, line)
        return hit

    def standing_for(self, others: Sequence["Hit"]) -> "Hit":
        """Return this hit with the ids and places of `others`, best first, merged into it."""
        if not others:
            return self
        ids, fill = (self.id, self.document_id), partial(self._merge, others)
        return Hit.unread(ids, self.score, fill, pinned=self.pinned)

    def _merge(self, others: Sequence["Hit"], merged: "Hit") -> None:
        places = [*self.also_at]
        for hit in others:
            own = Place(hit.document_id, hit.source, hit.path, hit.url, hit.title)
            places += [one for one in (own, *hit.also_at) if one not in places]
        values = {name: getattr(self, name) for name in HIT_FIELDS}
        values["also_at"] = [place for place in places if place.document_id != self.document_id]
        values["near_duplicates"] = tuple(hit.id for hit in others)
        Hit.__init__(merged, **values)


HIT_FIELDS = frozenset(one.name for one in fields(Hit))
_STORED = "title", "text", "section", "position", "modified"


@dataclass(frozen=True, slots=True)
class SearchResponse(Record):
    """The response to one query: its hits, best first, ties in index order.

    `match` grades the best hit; it is `none` if the documents say nothing about the query.
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

    def covers(self, chunk: ChunkRecord) -> bool:
        """Return whether a chunk is a hit, or may have been merged into one."""
        # Stages that drop or merge hits note how many.
        left_out = any(details.keys() & {"left_out", "merged"} for details in self.stages.values())
        if left_out and any(hit.document_id == chunk.document_id for hit in self.hits):
            return True
        return any(chunk.id in (hit.id, *hit.near_duplicates) for hit in self.hits)


def notices_of(stages: Mapping[str, dict[str, Any]]) -> list[str]:
    """Return the notices of all stages."""
    return [details["notice"] for details in stages.values() if "notice" in details]


def rank_hits(index: Index, candidates: Candidates, count: int) -> Iterator[Hit]:
    """Yield all candidates as hits, best first; callers use about `count` of them."""
    lanes = candidates.semantic, candidates.keyword, candidates.rerank
    ranks = candidates.semantic_ranks, candidates.keyword_ranks
    best, start, at_once = candidates.best_places(), 0, count + SPARE_HITS
    while start < len(best):
        places = best[start : start + at_once]
        # A caller that goes past the first batch usually needs many more.
        start, at_once = start + at_once, 2 * at_once
        shown = zip(*[_shown(lane, places) for lane in lanes], strict=True)
        shown_ranks = zip(*[lane[places].tolist() for lane in ranks], strict=True)
        lines = index.chunk_lines.lines(candidates.chunks[places].tolist())
        columns = places.tolist(), candidates.scores[places].tolist(), shown, shown_ranks
        for line, place, score, each, their in zip(lines, *columns, strict=True):
            fill = partial(_fill, line, candidates, place, each, their)
            yield Hit.unread(line.ids(), score, fill, line=line)


def _shown(scores: Scores | None, places: Numbers) -> list[float | None]:
    """Return the scores of candidates, rounded as in a response."""
    return [None] * len(places) if scores is None else scores[places].round(SCORE_DIGITS).tolist()


def _fill(
    line: StoredLine,
    candidates: Candidates,
    place: int,
    scores: Sequence[float | None],
    ranks: Sequence[int],
    hit: Hit,
) -> None:
    factors = {name: float(each[place]) for name, each in candidates.boosts.items()}
    line.read(
        partial(Hit.__init__, hit),
        score=hit.score,
        scores=LaneScores(
            *(None if score is None or math.isnan(score) else score for score in scores)
        ),
        ranks=LaneRanks(*(rank or None for rank in ranks)),
        boosts={name: round(one, SCORE_DIGITS) for name, one in factors.items() if one != 1},
        pinned=hit.pinned,
    )


def term_weights(index: Index, terms: Iterable[str]) -> dict[str, float]:
    """Return the inverse document frequency of each term, as in BM25, except heading terms."""
    plain = (term for term in sorted(set(terms)) if not term.startswith(HEADING_MARK))
    return {term: _weight(index, index.keyword_lane.frequency(term)) for term in plain}


def _weight(index: Index, frequency: int) -> float:
    return math.log(1 + (index.chunk_count - frequency + 0.5) / (frequency + 0.5))


def compare_with_terms(
    keyword: LaneHits, index: Index, terms: Sequence[str], unknown: Sequence[str] = ()
) -> LaneHits:
    """Return the keyword hits with the coverage and missing weight of the best one.

    Missing weight counts each term of an `unknown` identifier that is in no chunk.
    """
    weights = term_weights(index, terms)
    if len(keyword) and weights:
        whole, rarest = sum(weights.values()), _weight(index, 0)
        absent = sum(weight for weight in weights.values() if weight == rarest) / whole
        doubted = bool(unknown) or (absent > MOST_ABSENT and index.chunk_count >= LEAST_CHUNKS)
        coverage = min(1.0, float(keyword.scores[0]) / whole)
        keyword = replace(keyword, coverage=coverage, doubted=doubted)
    if not unknown:
        return keyword
    theirs = {term for text in unknown for term in index.tokenizer.terms(text)}
    missing = [t for t in terms if t in theirs and not index.keyword_lane.frequency(t)]
    # If every term exists, the whole identifier counts as one missing term, since no chunk with all
    # its terms contains it.
    return replace(keyword, missing_score=max(1, len(missing)) * _weight(index, 0))


def judge_terms(candidates: Candidates) -> Match:
    """Grade the match by the share of terms in the best keyword hit."""
    coverage = candidates.coverage if len(candidates.chunks) else None
    return grade(coverage or 0.0, STRONG_COVERAGE, WEAK_COVERAGE, candidates.doubted)


def grade(evidence: float, strong: float, weak: float, doubted: bool = False) -> Match:
    """Grade a match by its evidence; never strong if doubted."""
    strong = math.inf if doubted else strong
    return "strong" if evidence >= strong else "weak" if evidence >= weak else "none"


def respond(journal: Journal, hits: Iterator[Hit], match: Match) -> SearchResponse:
    """Return the response with `top_k` hits from the offset on."""
    # Selecting stages write to the journal while these hits are read.
    results = tuple(islice(hits, journal.offset, journal.wanted))
    for hit in results:
        assert hit.text is not None  # Read now, so that an error is one of this search.
    if journal.reason == "identifier":
        match = "strong"
    # A corrected word is in no document.
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


def merge_equal_texts(hits: Iterator[Hit], count: int) -> Iterator[Hit]:
    """Merge hits, given best first, with equal text, title and headings.

    White space is ignored. Among equal hits with the best score, the newest is shown. Each of the
    first `count` hits absorbs equal ones up to the next.
    """
    alike = _Alike()
    groups: list[list[Hit]] = []
    for hit in hits:
        group = alike.group(hit)
        group.append(hit)
        if len(group) == 1:
            groups.append(group)
            if len(groups) > count:
                break
    for group in groups:
        best = [hit for hit in group if hit.score == group[0].score]
        best = [hit for hit in best if hit.pinned] or best
        shown = max(best, key=_modified) if len(best) > 1 else best[0]
        yield shown.standing_for([hit for hit in group if hit is not shown])
    for hit in hits:
        group = alike.group(hit)
        if not group:
            group.append(hit)
            yield hit


class _Alike:
    """Groups hits by title, headings and text; texts are read only if the rest is equal."""

    def __init__(self) -> None:
        self._by_text: dict[tuple[bytes, bytes], dict[bytes | None, list[Hit]]] = {}

    def group(self, hit: Hit) -> list[Hit]:
        """Return the group of a hit, empty if it is the first."""
        line = _line_of(hit)
        groups = self._by_text.get(headings := line.headings())
        if groups is None:
            found: list[Hit] = []
            self._by_text[headings] = {None: found}
            return found
        if None in groups:
            only = groups.pop(None)
            groups[_line_of(only[0]).text()] = only
        return groups.setdefault(line.text(), [])


def _modified(hit: Hit) -> str:
    return _line_of(hit).modified()


def _line_of(hit: Hit) -> StoredLine:
    """Return the stored form of a hit, without reading the hit if an index has it."""
    line: StoredLine | None = getattr(hit, "line", None)
    return line or line_of({name: getattr(hit, name) for name in _STORED})
