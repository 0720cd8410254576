"""A search in progress: what was asked, and the budget of work that its stages share."""

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ..errors import InvalidRequestError
from ..index.reader import Index
from ..index.tokens import MAX_QUERY_CHARACTERS
from .facet_counts import Facets

Mode = Literal["hybrid", "semantic", "keyword"]
Reason = Literal["default", "requested", "identifier", "no_vectors", "embedder_unavailable"]
MODES: tuple[Mode, ...] = get_args(Mode)
MAX_TOP_K = 100
MAX_QUERY_LENGTH = 2_000  # Characters.
# All stages of a query share one budget of work, counted and not timed, so that the same is left
# out in every process. A unit is a posting in a search, some 20 ns; all else counts as so many.
MIN_UNITS, UNITS_OF_CHUNK = 80_000, 1.5
TERM_UNITS, TEXT_UNITS = 500, 1_000  # To look a term up, and to read the text of a chunk.
CHARACTER_UNITS = 30  # Of a query: the words of a long one take time, which its stages have less.
MAX_SECONDS = 5.0  # Of the processor, where counting has failed to bound a query.
TOO_MUCH = "This query takes too much work, so some of it was left out."


@dataclass(slots=True)
class Journal:
    """A search in progress: what was asked, and what stages did."""

    query: str = ""
    top_k: int = MAX_TOP_K
    mode: Mode = "hybrid"
    reason: Reason = "default"
    started: float = field(default_factory=time.perf_counter)
    unknown_identifiers: tuple[str, ...] = ()
    facets: Facets | None = None
    stages: dict[str, dict[str, Any]] = field(default_factory=dict)
    told: dict[str, tuple[str, ...]] = field(default_factory=dict)  # Sentences, by stage.
    units: int = MIN_UNITS  # Left to spend.
    begun: float = field(default_factory=time.thread_time)

    @classmethod
    def begin(cls, query: str, top_k: int, mode: Mode = "hybrid") -> "Journal":
        """Return the journal of a search. Raises InvalidRequestError for what cannot be asked."""
        if not query.strip():
            raise InvalidRequestError("query must not be empty", field="query")
        if len(query) > MAX_QUERY_LENGTH:
            message = f"query must have at most {MAX_QUERY_LENGTH} characters"
            raise InvalidRequestError(message, field="query")
        if not 1 <= top_k <= MAX_TOP_K:
            raise InvalidRequestError(f"top_k must be from 1 to {MAX_TOP_K}", field="top_k")
        if mode not in MODES:
            raise InvalidRequestError("mode must be hybrid, semantic or keyword", field="mode")
        return cls(query, top_k, mode)

    def answer_by_keywords(self) -> None:
        """Note that there are no vectors, which matters to who asked for a search by meaning."""
        reasons: dict[Mode, Reason] = {"keyword": "requested", "semantic": "no_vectors"}
        self.mode, self.reason = "keyword", reasons.get(self.mode, "default")

    def note(self, stage: str, *sentences: str, **details: Any) -> None:
        """Note what a stage changed, or why it failed: in sentences for people, and as JSON.

        Of the details, a `notice` is shown wherever results are, and what `failed` as well;
        `original` is a query to ask instead. Interfaces know no stage by its name.
        """
        self.stages[stage], self.told[stage] = details, sentences

    def note_length(self, searched: str) -> None:
        """Note that a query is too long, and which part of it is searched for."""
        sentence = "The query is long, and only its beginning was searched for."
        self.note("query_length", sentence, searched=searched)

    def explain(self) -> tuple[str, ...]:
        """Return sentences on each stage; details without a sentence are JSON."""
        said: list[str] = []
        for stage, details in self.stages.items():
            said += self.told.get(stage, ())
            is_told = bool(self.told.get(stage) or details.keys() & {"notice", "failed"})
            if details and not is_told:
                name = stage.replace("_", " ").capitalize()
                said.append(f"{name}: {json.dumps(details, ensure_ascii=False, default=str)}")
        return tuple(said)

    def spend(self, stage: str, units: int) -> bool:
        """Return whether a stage may do work of so many units; the response says if it may not."""
        if units <= self.units and time.thread_time() - self.begun < MAX_SECONDS:
            self.units -= units
            return True
        self.stop(stage)
        return False

    def stop(self, stage: str) -> None:
        """Note that a stage has left something out, as the query would cost too much."""
        stopped = self.stages.get("budget", {}).get("stopped", [])
        stopped = [*dict.fromkeys([*stopped, stage])]
        named = ", ".join(name.replace("_", " ") for name in stopped)
        sentence = f"Too much work for one query, left out in part: {named}."
        self.note("budget", sentence, stopped=stopped, notice=TOO_MUCH)


def quote(texts: Iterable[str]) -> str:
    """Return texts in quotation marks, in a row."""
    return ", ".join(f"\u201c{text}\u201d" for text in texts)


def describe_filters(filters: Mapping[str, Any]) -> str:
    """Return filters and their values in words."""
    values = (
        (name, [value] if isinstance(value, str) else value) for name, value in filters.items()
    )
    return ", ".join(
        f"{name.replace('_', ' ')} {quote([', '.join(each)])}" for name, each in values
    )


def early_budget(index: Index, query: str) -> int:
    """Return the units that stages may spend before the terms of a query are known."""
    half = int(MIN_UNITS + UNITS_OF_CHUNK * index.chunk_count) // 2
    return half - CHARACTER_UNITS * min(len(query), MAX_QUERY_CHARACTERS)


def afford_terms(index: Index, terms: Sequence[str], journal: Journal) -> list[str]:
    """Return the terms without the most frequent ones that the budget of a query does not cover."""
    frequency = index.keyword_lane.frequency
    # The impacts of a term that is there several times are multiplied.
    cost = {t: TERM_UNITS + min(times, 2) * frequency(t) for t, times in Counter(terms).items()}
    journal.units += 2 * early_budget(index, "") - early_budget(index, journal.query)
    for term in sorted(cost, key=lambda term: (cost[term], term)):
        # Every query comes here, and the clock of `spend` takes longer than all else.
        if cost[term] > journal.units:
            journal.stop("terms")
            break
        journal.units -= cost.pop(term)
    return [term for term in terms if term not in cost]
