"""The engine, as `/readyz` shows it, and what callers are told while it does not answer."""

import logging
from dataclasses import dataclass
from typing import Any, Literal

from fastapi import Request

from ..index.reader import Index
from ..index.records import Record
from ..store.lanes import StoredDenseLane
from ..store.store import StoreError
from .answers import ReadinessPart
from .problems import Describe, Problem

RETRY_SECONDS = 5

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EngineAnswer(Record):
    """The engine, which holds the version that is served; without it there is no readiness."""

    status: Literal["ok"]


def _describe(index: Index) -> dict[str, Any]:
    """Go on looking at the engine. Raises StoreError while searches cannot be answered."""
    assert isinstance(index.dense_lane, StoredDenseLane)
    store = index.dense_lane.store
    store.watch()
    if (problem := store.problem) is not None:
        raise type(problem)(problem.message, hint=problem.hint)
    return {"status": "ok"}


ENGINE = ReadinessPart("engine", EngineAnswer, _describe)


def _describe_store_error(_request: Request, error: StoreError) -> Problem:
    # The message may name machines, which is for the owner alone.
    _logger.error("%s (%s)", error.message, error.hint)
    return Problem(503, error.reason, headers={"Retry-After": str(RETRY_SECONDS)})


STORE_PROBLEMS: dict[type[Exception], Describe] = {StoreError: _describe_store_error}
"""Errors that the application answers, beside those that `problems` knows."""
