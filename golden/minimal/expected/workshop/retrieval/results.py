"""Makes the answer to a query, the same through every door."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..index.errors import InvalidRequestError
from ..index.reader import Index
from ..index.records import ChunkRecord, Record
from .candidates import SCORE_DIGITS, Candidates

Mode = Literal["hybrid", "semantic", "keyword"]
Reason = Literal["default", "requested", "identifier", "no_vectors", "embedder_unavailable"]

MAX_TOP_K = 100
MAX_QUERY_LENGTH = 2_000
"""Characters."""


@dataclass(frozen=True, slots=True)
class Passage(Record):
    """Some text of a document, with its place; `section` holds the headings above all of it."""

    text: str
    section: list[str]
    position: dict[str, int]


FindPassage = Callable[[Index, ChunkRecord], Passage | None]
"""Returns the larger passage around a chunk, if there is one."""


@dataclass(frozen=True, slots=True)
class LaneScores(Record):
    """The score in each lane, null where it has none, and that of the model that reranked."""

    semantic: float | None
    keyword: float | None
    rerank: float | None = None


@dataclass(frozen=True, slots=True)
class LaneRanks(Record):
    """The rank in each lane, from 1; null where the lane did not deliver the chunk."""

    semantic: int | None
    keyword: int | None


@dataclass(frozen=True, slots=True)
class Hit(ChunkRecord):
    """A passage that was found; `boosts` are the factors in its score, by stage.

    `near_duplicates` are the ids of hits with the same text, or nearly the same, that it stands
    for; `passage` is the larger passage around it.
    """

    score: float = field(metadata={"ge": 0, "le": 1})
    scores: LaneScores
    ranks: LaneRanks
    boosts: dict[str, float]
    near_duplicates: tuple[str, ...] = ()
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class SearchResponse(Record):
    """The answer to one query: what was found, best first, equal scores in the order of ids.

    `mode` is the mode that was used and `reason` why; `degraded` is true when semantic search was
    wanted but could not be had. `unknown_identifiers` are those of the query that stand nowhere in
    the documents; `stages` says what optional stages changed, or why they failed.
    """

    query: str
    mode: Mode
    reason: Reason
    degraded: bool
    unknown_identifiers: tuple[str, ...]
    took_ms: float
    stages: Mapping[str, dict[str, Any]]
    hits: tuple[Hit, ...] = field(metadata={"alias": "results"})

    def covers(self, chunk: ChunkRecord) -> bool:
        """Return whether a chunk is a hit, or one that a better hit stands for.

        That is a near-duplicate, or one of the same document or parent.
        """
        if any(chunk.id in (hit.id, *hit.near_duplicates) for hit in self.hits):
            return True
        is_chosen = not self.stages.keys().isdisjoint({"document_cap", "parents"})
        return is_chosen and any(hit.document_id == chunk.document_id for hit in self.hits)


class Journal:
    """Notes while one query is answered: the time, unknown identifiers, what stages did."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self.unknown_identifiers: tuple[str, ...] = ()
        self.stages: dict[str, dict[str, Any]] = {}

    def note(self, stage: str, **details: Any) -> None:
        """Say what a stage changed, or why it failed; details are values of JSON."""
        self.stages[stage] = details

    def milliseconds(self) -> float:
        """Return the time since the start, to the microsecond."""
        return round((time.perf_counter() - self._started) * 1000, 3)


def check_request(query: str, top_k: int, mode: str) -> None:
    """Raise InvalidRequestError for a request that no search can answer."""
    if not query.strip():
        raise InvalidRequestError("query must not be empty", field="query")
    if len(query) > MAX_QUERY_LENGTH:
        raise InvalidRequestError(
            f"query must have at most {MAX_QUERY_LENGTH} characters", field="query"
        )
    if not 1 <= top_k <= MAX_TOP_K:
        raise InvalidRequestError(f"top_k must be from 1 to {MAX_TOP_K}", field="top_k")
    if mode not in ("hybrid", "semantic", "keyword"):
        raise InvalidRequestError("mode must be hybrid, semantic or keyword", field="mode")


def best_places(index: Index, candidates: Candidates, count: int) -> NDArray[np.int64]:
    """Return the places of the best `count` candidates, equal scores in the order of ids."""
    scores = candidates.scores
    chosen = np.argsort(-scores, kind="stable")
    if len(scores) > count:
        # Every candidate that ties with the last place takes part, since ids decide ties.
        chosen = chosen[: np.count_nonzero(scores >= scores[chosen[count - 1]])]
    ranked = scores[chosen].tolist()
    times = Counter(ranked)
    if len(times) == len(ranked):
        return chosen
    # Only ties need their ids, which are read from disk.
    ids = [
        index.chunk(int(candidates.chunks[place])).id if times[score] > 1 else ""
        for place, score in zip(chosen, ranked, strict=True)
    ]
    order = sorted(range(len(ranked)), key=lambda number: (-ranked[number], ids[number]))
    return chosen[order[:count]].astype(np.int64)


def respond(
    index: Index,
    query: str,
    top_k: int,
    journal: Journal,
    candidates: Candidates,
    choose: Callable[[Iterator[Hit]], Iterator[Hit]] | None = None,
    *,
    mode: Mode,
    reason: Reason,
    degraded: bool = False,
) -> SearchResponse:
    """Read the best `top_k` candidates from the index, in order, each text once.

    `choose` picks from all candidates, best first, instead; those that are left out make room for
    others.
    """
    choose = choose or partial(merge_equal_texts, count=top_k)
    hits = tuple(islice(choose(_ranked_hits(index, candidates, top_k)), top_k))
    return SearchResponse(
        query,
        mode,
        reason,
        degraded,
        journal.unknown_identifiers,
        journal.milliseconds(),
        journal.stages,
        hits,
    )


def merge_equal_texts(hits: Iterator[Hit], *, count: int) -> Iterator[Hit]:
    """Leave out hits, given best first, whose text a better one has, white space apart.

    Hits are read until `count` different texts are found before any is given, so that each names
    the ids of those among them that it stands for, best first.
    """
    kept: list[Hit] = []
    copies: list[list[str]] = []
    originals = _Originals()
    for hit in hits:
        number = originals.find(hit.text)
        if number is not None:
            copies[number].append(hit.id)
            continue
        kept.append(hit)
        copies.append([])
        if len(kept) == count:
            break
    for hit, ids in zip(kept, copies, strict=True):
        yield replace(hit, near_duplicates=tuple(ids)) if ids else hit
    for hit in hits:
        if originals.find(hit.text) is None:
            yield hit


class _Originals:
    """Texts in the order in which they came, each once."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._normal: dict[int, str] = {}
        self._by_ends: dict[tuple[str, ...], list[int]] = {}

    def find(self, text: str) -> int | None:
        """Return the number of an equal text; None if there is none, and this takes the next."""
        # Few texts agree in their first and last words, so that few are compared as a whole.
        ends = (*text.split(None, 4)[:4], *text.rsplit(None, 3)[-3:])
        alike = self._by_ends.setdefault(ends, [])
        if alike:
            normal = " ".join(text.split())
            for number in alike:
                if number not in self._normal:
                    self._normal[number] = " ".join(self._texts[number].split())
                if self._normal[number] == normal:
                    return number
        alike.append(len(self._texts))
        self._texts.append(text)
        return None


def _ranked_hits(index: Index, candidates: Candidates, first: int) -> Iterator[Hit]:
    """Yield all candidates, best first; more than the `first` of them are ordered only if asked
    for."""
    done, count = 0, first
    while done < len(candidates.scores):
        places = best_places(index, candidates, count)
        for place in places[done:]:
            yield _hit(index, candidates, int(place))
        done, count = len(places), 4 * count


def _hit(index: Index, candidates: Candidates, place: int) -> Hit:
    values: tuple[Any, ...] = (
        *index.chunk_values(int(candidates.chunks[place])),
        float(candidates.scores[place]),
        LaneScores(
            _lane_score(candidates.semantic, place),
            _lane_score(candidates.keyword, place),
            _lane_score(candidates.rerank, place),
        ),
        LaneRanks(
            int(candidates.semantic_ranks[place]) or None,
            int(candidates.keyword_ranks[place]) or None,
        ),
        {
            name: round(float(factors[place]), SCORE_DIGITS)
            for name, factors in candidates.boosts.items()
            if factors[place] != 1
        },
    )
    return Hit(*values)


def _lane_score(scores: NDArray[np.float64] | None, place: int) -> float | None:
    score = math.nan if scores is None else float(scores[place])
    return None if math.isnan(score) else round(score, SCORE_DIGITS)
