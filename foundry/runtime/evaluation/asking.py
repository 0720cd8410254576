"""Asks a server questions whose answers are known, and measures what it found.

Retrieval is judged by document: a hit counts for the document that it belongs to, then for those of
the hits that it stands for, and each document once, where its best hit stands. What is judged are
the documents of the hits that one search gives at most (`MAX_TOP_K`).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..index.served import current_index
from ..retrieval.results import MAX_TOP_K, Hit, SearchResponse
from .figures import DIGITS
from .metrics import METRICS, Grades, measure, relevant_documents
from .questions import Question

Search = Callable[..., SearchResponse]

USUAL_TOP_K = 10
"""What a search is timed with: the number of results that callers get unless they say so."""

SHOWN_HITS = 10
"""Hits of each question that are kept with their scores."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one question came to: each metric by name, the time, and the hits that came first.

    `milliseconds` is the time of a search for the usual number of results; 0 if not measured.
    """

    values: dict[str, float]
    milliseconds: float
    mode: str
    reason: str
    degraded: bool
    hits: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Run:
    """All questions asked in one way; `name` says which."""

    name: str
    answers: tuple[Answer, ...]

    def means(self) -> dict[str, float]:
        """The mean of each metric over the questions."""
        columns = {name: [answer.values[name] for answer in self.answers] for name in METRICS}
        return {name: round(float(np.mean(column)), DIGITS) for name, column in columns.items()}

    def latency(self) -> dict[str, float]:
        """Median and 95th percentile of the times, in milliseconds."""
        times = [answer.milliseconds for answer in self.answers]
        median, p95 = np.percentile(times, [50, 95])
        return {"median": round(float(median), 3), "p95": round(float(p95), 3)}

    @property
    def degraded(self) -> int:
        """Questions that were answered by keywords because there was no vector for them."""
        return sum(answer.degraded for answer in self.answers)


def ask_all(search: Search, questions: Sequence[Question], mode: str) -> Run:
    """Ask every question in one mode; `relevant` must hold document ids (see `resolve`)."""
    # Whatever is loaded by the first search is not part of any question's time.
    search(questions[0].query, USUAL_TOP_K, mode=mode)
    return Run(mode, tuple(_ask(search, question, mode, timed=True) for question in questions))


def ask_untimed(search: Search, questions: Sequence[Question], name: str) -> Run:
    """Ask every question in hybrid mode, for its metrics alone."""
    answers = [_ask(search, question, "hybrid", timed=False) for question in questions]
    return Run(name, tuple(answers))


def rank_documents(response: SearchResponse) -> list[str]:
    """The documents of a response, best first, each once."""
    return list(dict.fromkeys(name for hit in response.hits for name in _documents_of(hit)))


def _documents_of(hit: Hit) -> list[str]:
    """The document of a hit, and those of the hits that it stands for."""
    documents = [hit.document_id]
    for name in hit.near_duplicates:
        if (chunk := current_index().find_chunk(name)) is not None:
            documents.append(chunk.document_id)
    return documents


def _ask(search: Search, question: Question, mode: str, *, timed: bool) -> Answer:
    started = time.perf_counter()
    if timed:
        search(question.query, USUAL_TOP_K, mode=mode)
    milliseconds = (time.perf_counter() - started) * 1000
    response = search(question.query, MAX_TOP_K, mode=mode)
    return Answer(
        values=measure(rank_documents(response), question.relevant),
        milliseconds=milliseconds,
        mode=response.mode,
        reason=response.reason,
        degraded=response.degraded,
        hits=_first_hits(response, question.relevant),
    )


def _first_hits(response: SearchResponse, grades: Grades) -> tuple[dict[str, Any], ...]:
    relevant = relevant_documents(grades)
    return tuple(
        {
            "id": hit.id,
            "document_id": hit.document_id,
            "path": hit.path,
            "section": hit.section,
            "title": hit.title,
            "score": hit.score,
            "relevant": not relevant.isdisjoint(_documents_of(hit)),
        }
        for hit in response.hits[:SHOWN_HITS]
    )
