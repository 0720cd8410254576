"""Reranking: a model scores the best hits together with the query, and reorders them.

If the model cannot be loaded, fails, or exceeds its deadline, the order does not change, and the
response reports it.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigurationError
from ...index.reader import Index
from ...index.records import count_of
from ..candidates import SCORE_DIGITS, Candidates
from ..circuit_breaker import CircuitBreaker
from ..deadlines import call_within
from ..journal import Journal
from ..timing import stage

STAGE = "rerank"

LATE = "The reranking model took too long; the order of hits is unchanged."
FAILED = "The reranking model is not available; the order of hits is unchanged."

_logger = logging.getLogger(__name__)


class Model(Protocol):
    """Scores passages for a query."""

    def score(self, query: str, passages: Sequence[str]) -> NDArray[np.float64]:
        """Return the probability (n,) that each passage (n,) answers the query."""
        ...


class Reranker:
    """Runs a model on `at_once` queries at a time; threads can share one."""

    def __init__(self, load: Callable[[], Model], *, at_once: int = 1) -> None:
        """Create the reranker. The first query calls `load`, which may raise ConfigurationError."""
        self._load = load
        self._model: Model | None = None
        self._slots = threading.BoundedSemaphore(at_once)
        self._loading = threading.Lock()
        self._breaker: CircuitBreaker[str] = CircuitBreaker()

    def warm(self) -> None:
        """Load the model before the first query. A failure is only logged."""
        self.score("", [""], seconds=60.0)

    def score(
        self, query: str, passages: Sequence[str], *, seconds: float
    ) -> NDArray[np.float64] | str:
        """Return the scores (n,) of passages (n,), or a message that explains their absence.

        After a failure, the model is not called for a while.
        """
        ticket = self._breaker.admit()
        if ticket is None:
            return self._breaker.fault or FAILED
        try:
            model = self._loaded()
            scores = call_within(seconds, lambda: self._run(model, query, passages, seconds))
        except TimeoutError:
            self._leave_alone(ticket, LATE, f"the model took more than {seconds:g} s")
            return LATE
        except ConfigurationError as error:
            self._leave_alone(ticket, FAILED, f"{error.message} ({error.hint})")
            return FAILED
        except Exception as error:
            # Exceptions of model libraries have no common base class.
            self._leave_alone(ticket, FAILED, repr(error))
            return FAILED
        if self._breaker.succeed(ticket):
            _logger.warning("the reranking model responds again")
        return scores

    def _loaded(self) -> Model:
        # The model is loaded outside the deadline: otherwise the first query would never be
        # reranked, and a single command would rank differently from a server.
        with self._loading:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _run(
        self, model: Model, query: str, passages: Sequence[str], seconds: float
    ) -> NDArray[np.float64]:
        # Waiting for a slot counts towards the deadline.
        if not self._slots.acquire(timeout=seconds):
            raise TimeoutError
        try:
            return model.score(query, passages)
        finally:
            self._slots.release()

    def _leave_alone(self, ticket: int, fault: str, detail: str) -> None:
        if self._breaker.fail(ticket, fault):
            _logger.warning("hits are not reranked: %s", detail)


@stage(STAGE)
def rerank(
    candidates: Candidates,
    index: Index,
    query: str,
    journal: Journal,
    model: Reranker,
    *,
    hits: int,
    deadline_ms: float,
) -> Candidates:
    """Set the best candidates' scores to the model's; the others keep their order below them.

    The others are scaled so that the best of them is just below the model's lowest score. Nothing
    changes if the caller requested a lane, or if an identifier of the query was found.
    """
    if journal.reason in ("identifier", "requested"):
        return candidates
    places = candidates.best_places()[: hits + 1]
    read, below = places[:hits], places[hits:]
    if not len(read):
        return candidates
    records = [*index.chunks(candidates.chunks[read].tolist())]
    passages = ["\n".join([" > ".join(record.headings()), record.text]) for record in records]
    given = model.score(query, passages, seconds=deadline_ms / 1000)
    if isinstance(given, str):
        journal.note(STAGE, failed=given)
        return candidates
    given = given.round(SCORE_DIGITS)
    judged = np.full(len(candidates.scores), np.nan)
    judged[read] = given
    best_below = candidates.scores[below].max(initial=0.0)
    ceiling = max(0.0, given.min() - 10.0**-SCORE_DIGITS)
    share = ceiling / best_below if best_below else 0.0
    scores = np.where(np.isnan(judged), candidates.scores * min(share, 1.0), judged)
    passages_read = count_of(len(read), "passage")
    sentence = f"A model reranked {passages_read}."
    journal.note(STAGE, sentence, hits=len(read))
    return replace(candidates.with_scores(scores), rerank=judged)
