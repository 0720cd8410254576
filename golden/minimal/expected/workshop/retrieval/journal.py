"""The journal of a search: the request, notes from stages, and the shared work budget."""

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ..errors import InvalidRequestError
from ..index.reader import Index
from ..index.tokens import MAX_QUERY_CHARACTERS, Token
from .facet_counts import Facets

Mode = Literal["hybrid", "semantic", "keyword"]
Reason = Literal["default", "requested", "identifier", "no_vectors", "embedder_unavailable"]
Group = Literal["document"]
MODES: tuple[Mode, ...] = get_args(Mode)
GROUPS: tuple[Group, ...] = get_args(Group)
MAX_TOP_K, MAX_RESULTS = 100, 1_000  # Per page, and per query over all pages.
MAX_QUERY_LENGTH = 2_000  # Maximum length in characters.
# All stages of a query share one work budget. Work is counted, not timed, so that every process
# skips the same work. One unit is the time to read one posting, about 20 ns.
MIN_UNITS, UNITS_OF_CHUNK = 80_000, 1.5
TERM_UNITS, TEXT_UNITS = 500, 1_000  # Looking up a term; reading the text of a chunk.
CHARACTER_UNITS = 30  # Units per character of a query, since long queries take time by themselves.
MAX_SECONDS = 5.0  # Processor time after which a query stops even if units are left.
TOO_MUCH = "This query takes too much work, so part of it was skipped."


@dataclass(slots=True)
class Journal:
    """A search in progress: the request, and what stages did."""

    query: str = ""
    top_k: int = MAX_TOP_K
    mode: Mode = "hybrid"
    reason: Reason = "default"
    started: float = field(default_factory=time.perf_counter)
    unknown_identifiers: tuple[str, ...] = ()
    facets: Facets | None = None
    stages: dict[str, dict[str, Any]] = field(default_factory=dict)
    told: dict[str, tuple[str, ...]] = field(default_factory=dict)  # Sentences, by stage
    apart: dict[str, Token | None] = field(default_factory=dict)  # Words split by `respell`.
    units: int = MIN_UNITS  # Units that are left.
    processor_started: float = field(default_factory=time.thread_time)
    offset: int = 0  # First hit to return

    @classmethod
    def begin(
        cls,
        query: str,
        top_k: int,
        mode: Mode = "hybrid",
        offset: int = 0,
        group: Group | None = None,
    ) -> "Journal":
        """Begin the journal of a search. Raises InvalidRequestError for invalid arguments."""
        if not query.strip():
            raise InvalidRequestError("query must not be empty", field="query")
        if len(query) > MAX_QUERY_LENGTH:
            message = f"query must have at most {MAX_QUERY_LENGTH} characters"
            raise InvalidRequestError(message, field="query")
        if not 1 <= top_k <= MAX_TOP_K:
            raise InvalidRequestError(f"top_k must be from 1 to {MAX_TOP_K}", field="top_k")
        if mode not in MODES:
            raise InvalidRequestError("mode must be hybrid, semantic or keyword", field="mode")
        if not 0 <= offset <= MAX_RESULTS - top_k:
            message = f"offset must be 0 or more, and offset + top_k at most {MAX_RESULTS}"
            raise InvalidRequestError(message, field="offset")
        if group not in (None, *GROUPS):
            raise InvalidRequestError("group must be document or absent", field="group")
        return cls(query, top_k, mode, offset=offset)

    @property
    def wanted(self) -> int:
        """Number of results needed to fill the requested page."""
        return self.offset + self.top_k

    def answer_by_keywords(self) -> None:
        """Record that only keywords are searched for, and why."""
        reasons: dict[Mode, Reason] = {"keyword": "requested", "semantic": "no_vectors"}
        self.mode, self.reason = "keyword", reasons.get(self.mode, "default")

    def note(self, stage: str, *sentences: str, **details: Any) -> None:
        """Note what a stage changed, or why it failed: as sentences, and as JSON.

        The details `notice` and `failed` are shown with the results in every interface; `original`
        is a query that the user may want instead. Interfaces need not know any stage by name.
        """
        self.stages[stage], self.told[stage] = details, sentences

    def note_length(self, searched: str) -> None:
        """Note that a query is too long, and which part of it is searched for."""
        sentence = "The query is too long; only its beginning was searched for."
        self.note("query_length", sentence, searched=searched)

    def explain(self) -> tuple[str, ...]:
        """Return sentences about each stage; details without a sentence are shown as JSON."""
        said: list[str] = []
        for stage, details in self.stages.items():
            said += self.told.get(stage, ())
            is_told = bool(self.told.get(stage) or details.keys() & {"notice", "failed"})
            if details and not is_told:
                name = stage.replace("_", " ").capitalize()
                said.append(f"{name}: {json.dumps(details, ensure_ascii=False, default=str)}")
        return tuple(said)

    def spend(self, stage: str, units: int) -> bool:
        """Spend units and return True.

        If too few are left, or the query has run too long, note that the stage stopped, and return
        False.
        """
        if units <= self.units and time.thread_time() - self.processor_started < MAX_SECONDS:
            self.units -= units
            return True
        self.stop(stage)
        return False

    def stop(self, stage: str) -> None:
        """Record that a stage skipped something because of the budget."""
        stopped = self.stages.get("budget", {}).get("stopped", [])
        stopped = [*dict.fromkeys([*stopped, stage])]
        named = ", ".join(name.replace("_", " ") for name in stopped)
        sentence = f"This query takes too much work; partly skipped: {named}."
        self.note("budget", sentence, stopped=stopped, notice=TOO_MUCH)


def quote(texts: Iterable[str]) -> str:
    """Return texts in quotation marks, separated by commas."""
    return ", ".join(f"\u201c{text}\u201d" for text in texts)


def format_filters(filters: Mapping[str, Any]) -> str:
    """Return filters and their values as part of a sentence."""
    values = (
        (name, [value] if isinstance(value, str) else value) for name, value in filters.items()
    )
    return ", ".join(
        f"{name.replace('_', ' ')} {quote([', '.join(each)])}" for name, each in values
    )


def half_budget(index: Index) -> int:
    """Return half of the units of a query."""
    return int(MIN_UNITS + UNITS_OF_CHUNK * index.chunk_count) // 2


def early_budget(index: Index, query: str) -> int:
    """Return the units that may be spent before the query's terms are looked up."""
    return half_budget(index) - CHARACTER_UNITS * min(len(query), MAX_QUERY_CHARACTERS)


def afford_terms(index: Index, terms: Sequence[str], journal: Journal) -> list[str]:
    """Return the terms that fit the budget; the most frequent ones are left out first."""
    frequency = index.keyword_lane.frequency
    # However often a term is repeated, its postings are read once and its impacts are multiplied
    # once, so it costs at most twice as much.
    cost = {t: TERM_UNITS + min(times, 2) * frequency(t) for t, times in Counter(terms).items()}
    journal.units += 2 * half_budget(index) - early_budget(index, journal.query)
    for term in sorted(cost, key=lambda term: (cost[term], term)):
        # Not `spend`: reading the clock for each term would take most of the time.
        if cost[term] > journal.units:
            journal.stop("terms")
            break
        journal.units -= cost.pop(term)
    return [term for term in terms if term not in cost]
