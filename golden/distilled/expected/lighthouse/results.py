"""Search results, the same through every door."""

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .candidates import SCORE_DIGITS, Candidates
from .errors import InvalidRequestError
from .index import Index
from .records import ChunkRecord

Mode = Literal["hybrid", "semantic", "keyword"]
Reason = Literal["default", "requested", "identifier", "no_vectors", "embedder_unavailable"]

MAX_TOP_K = 100
MAX_QUERY_LENGTH = 2_000
"""Characters."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk with its score, each lane's score and rank, and each boost that went into it."""

    chunk: ChunkRecord
    score: float
    semantic: float | None
    keyword: float | None
    semantic_rank: int | None
    keyword_rank: int | None
    boosts: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """The hit as a result of POST /search."""
        return {
            **self.chunk.to_json(),
            "score": self.score,
            "scores": {"semantic": self.semantic, "keyword": self.keyword},
            "ranks": {"semantic": self.semantic_rank, "keyword": self.keyword_rank},
            "boosts": self.boosts,
        }


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """The answer to one query.

    `mode` is the mode that was used and `reason` why; `degraded` is true when semantic search was
    wanted but could not be had. Hits come best first, equal scores in the order of chunk ids.
    """

    query: str
    mode: Mode
    reason: Reason
    degraded: bool
    took_ms: float
    hits: tuple[Hit, ...]

    def to_json(self) -> dict[str, Any]:
        """The answer of POST /search."""
        return {
            "query": self.query,
            "mode": self.mode,
            "reason": self.reason,
            "degraded": self.degraded,
            "took_ms": self.took_ms,
            "results": [hit.to_json() for hit in self.hits],
        }


class Stopwatch:
    """Measures one request."""

    def __init__(self) -> None:
        self._started = time.perf_counter()

    def milliseconds(self) -> float:
        """Time since the start, to the microsecond."""
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


def respond(
    index: Index,
    query: str,
    top_k: int,
    stopwatch: Stopwatch,
    candidates: Candidates,
    *,
    mode: Mode,
    reason: Reason,
    degraded: bool = False,
) -> SearchResponse:
    """Read the best `top_k` candidates from the index and put them in order."""
    scores = candidates.scores
    if len(scores) > top_k:
        # Every candidate that ties with the last place takes part, since ids decide ties.
        threshold = np.partition(scores, len(scores) - top_k)[len(scores) - top_k]
        chosen = np.flatnonzero(scores >= threshold)
    else:
        chosen = np.arange(len(scores))
    hits = [_hit(index, candidates, int(place)) for place in chosen]
    hits.sort(key=lambda hit: (-hit.score, hit.chunk.id))
    return SearchResponse(
        query, mode, reason, degraded, stopwatch.milliseconds(), tuple(hits[:top_k])
    )


def _hit(index: Index, candidates: Candidates, place: int) -> Hit:
    semantic, keyword = candidates.semantic, candidates.keyword
    return Hit(
        chunk=index.chunk(int(candidates.chunks[place])),
        score=float(candidates.scores[place]),
        semantic=None if semantic is None else round(float(semantic[place]), SCORE_DIGITS),
        keyword=None if keyword is None else round(float(keyword[place]), SCORE_DIGITS),
        semantic_rank=int(candidates.semantic_ranks[place]) or None,
        keyword_rank=int(candidates.keyword_ranks[place]) or None,
        boosts={
            name: float(gains[place])
            for name, gains in candidates.boosts.items()
            if gains[place] != 0
        },
    )
