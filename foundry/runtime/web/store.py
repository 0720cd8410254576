"""What callers are told while the engine does not give what a search needs."""

import logging
from typing import Any

from fastapi import Request
from starlette.responses import Response

from ..store.store import Store, StoreError
from .problems import problem_response

RETRY_SECONDS = 5

_logger = logging.getLogger(__name__)


def require_store(store: Store) -> None:
    """Go on looking at the engine. Raises StoreError while searches cannot be answered."""
    store.watch()
    if (problem := store.problem) is not None:
        raise type(problem)(problem.message, hint=problem.hint)


async def _on_store_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, StoreError)
    # The message may name machines, which is for the owner alone.
    _logger.error("%s (%s)", error.message, error.hint)
    return problem_response(503, error.reason, headers={"Retry-After": str(RETRY_SECONDS)})


STORE_PROBLEMS: dict[int | type[Exception], Any] = {StoreError: _on_store_error}
"""Exception handlers of the application, beside those of `web_problems`."""
