"""Asks the language model about a query before the search; it must reply with JSON in time.

Threads can share one model. Replies are cached, so a repeated query makes no call. After several
failures in a row, the model is not called for a while. Callers check the content of replies.
"""

import asyncio
import json
import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..model.client import LanguageModel, draw_fence
from ..model.replies import ModelError
from .circuit_breaker import CircuitBreaker

MAX_TOKENS = 1024
"""Leaves room for models that reason before they answer."""

KEPT_ANSWERS = 1024
FAILURES_IN_A_ROW = 3
"""One timeout means little: model latency varies from half a second to three."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """A query, an instruction, and the JSON schema of the reply as text."""

    query: str
    instructions: str
    schema: str


class QueryModel:
    """A client of one language model for queries."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._places = threading.BoundedSemaphore(model.settings.concurrency)
        self._breaker: CircuitBreaker[str] = CircuitBreaker(failures=FAILURES_IN_A_ROW)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()
        # Errors are not cached.
        self._kept = lru_cache(KEPT_ANSWERS)(self._ask)

    def ask(self, request: Request, *, seconds: float) -> Mapping[str, Any]:
        """Return the JSON object with which the model replies within `seconds`.

        Raises ModelError if there is none; its message contains no secret.
        """
        return self._kept(request, seconds)

    def close(self) -> None:
        """Close connections and end the thread; the object cannot be used again."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            asyncio.run_coroutine_threadsafe(self._model.client.aclose(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    def _ask(self, request: Request, seconds: float) -> Mapping[str, Any]:
        if not self._places.acquire(blocking=False):
            raise ModelError("is at its limit of concurrent calls")
        try:
            ticket = self._breaker.admit()
            if ticket is None:
                raise ModelError("is paused after failures")
            return self._call_and_report(ticket, request, seconds)
        finally:
            self._places.release()

    def _call_and_report(self, ticket: int, request: Request, seconds: float) -> Mapping[str, Any]:
        try:
            answer = self._call(request, seconds)
        except ModelError as error:
            if self._breaker.fail(ticket, str(error)):
                _logger.warning("the language model %s; queries are searched for as typed", error)
            raise
        if self._breaker.succeed(ticket):
            _logger.warning("the language model reads queries again")
        return answer

    def _call(self, request: Request, seconds: float) -> Mapping[str, Any]:
        fence = draw_fence()
        messages = [
            {"role": "system", "content": request.instructions.replace("{fence}", fence)},
            {"role": "user", "content": f"{fence}\n{request.query}\n{fence} end"},
        ]
        schema = {"name": "query", "strict": True, "schema": json.loads(request.schema)}
        form = {"type": "json_schema", "json_schema": schema}
        reply = asyncio.run_coroutine_threadsafe(
            self._model.complete(
                messages, MAX_TOKENS, seconds, temperature=0, response_format=form
            ),
            self._running_loop(),
        )
        try:
            return read_object(reply.result(seconds).text)
        except TimeoutError:
            # This also closes the connection, so that the model stops generating.
            reply.cancel()
            raise ModelError("took too long") from None

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        # The thread is started by the first query, because threads do not survive the fork of
        # workers.
        with self._lock:
            if self._loop is None:
                # The client is created outside the deadline: otherwise the first query would always
                # time out.
                _ = self._model.client
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=_run, args=(self._loop,), name="query model", daemon=True
                ).start()
            return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


def read_object(text: str) -> Mapping[str, Any]:
    """Return the JSON object in a reply, which may be surrounded by text. Raises ModelError."""
    start, end = text.find("{"), text.rfind("}")
    try:
        answer = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        raise ModelError("sent no JSON") from None
    if not isinstance(answer, dict):
        raise ModelError("sent no JSON")
    return answer
