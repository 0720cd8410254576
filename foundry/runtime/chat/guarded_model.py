"""Bypasses a stalled language model: questions are immediately answered with extracts.

Each process of a server has a circuit breaker. MAX_TIMEOUTS in a row open it, and questions no
longer wait for the model. The first question after a pause starts a probe in the background; the
breaker closes once the model replies to a probe.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from ..model.client import LanguageModel, Message, ModelSettings
from ..model.replies import EmptyReplyError, ModelChunk, ModelError, ModelTimeoutError
from ..retrieval.circuit_breaker import CircuitBreaker

MAX_TIMEOUTS = 3
PROBE: list[Message] = [{"role": "user", "content": "Answer with the word yes."}]
PROBE_TOKENS = 16

_logger = logging.getLogger(__name__)


class ModelStalledError(ModelError):
    """The model was not called, because it has stalled."""

    def __init__(self) -> None:
        super().__init__("is not responding")


class GuardedModel:
    """A language model that is called as long as it replies in time; see `LanguageModel`."""

    def __init__(self, model: LanguageModel, clock: Callable[[], float] = time.monotonic) -> None:
        self._model = model
        self._breaker: CircuitBreaker[str] = CircuitBreaker(clock, failures=MAX_TIMEOUTS)
        # The event loop keeps only weak references to tasks, so this keeps the task alive.
        self._probing: asyncio.Task[None] | None = None

    @classmethod
    def from_environment(cls) -> "GuardedModel | None":
        """Return the model that the environment configures, if any. Raises ConfigurationError."""
        model = LanguageModel.from_environment()
        return None if model is None else cls(model)

    @property
    def settings(self) -> ModelSettings:
        """The limits on the model's use."""
        return self._model.settings

    async def complete(
        self, messages: list[Message], max_tokens: int, seconds: float, **options: object
    ) -> ModelChunk:
        """Return the complete reply within `seconds`. Raises ModelError.

        A late reply here does not count against the model, because the limit is the caller's.
        """
        self._admit()
        return await self._model.complete(messages, max_tokens, seconds, **options)

    async def stream(
        self, messages: list[Message], max_tokens: int, **options: object
    ) -> AsyncGenerator[ModelChunk, None]:
        """Yield the reply as it arrives. Raises ModelError, possibly midway."""
        ticket = self._admit()
        try:
            async with aclosing(self._model.stream(messages, max_tokens, **options)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except ModelTimeoutError as error:
            if self._breaker.fail(ticket, str(error)):
                _logger.warning("the language model has stalled; answers are extracts for now")
            raise
        self._breaker.succeed(ticket)

    def _admit(self) -> int:
        """Return a ticket of the breaker. While it is open, probe the model if a probe is due.

        Raises ModelStalledError while the breaker is open.
        """
        is_closed = self._breaker.fault is None
        ticket = self._breaker.admit()
        if ticket is None or not is_closed:
            if ticket is not None:
                self._probing = asyncio.create_task(self._probe(ticket))
            raise ModelStalledError
        return ticket

    async def _probe(self, ticket: int) -> None:
        try:
            async with aclosing(self._model.stream(PROBE, PROBE_TOKENS)) as chunks:
                async for _ in chunks:
                    pass
        except EmptyReplyError:
            # An empty reply also shows that the model responds: the short limit may have cut off
            # its reasoning.
            pass
        except ModelError as error:
            self._breaker.fail(ticket, str(error))
            return
        if self._breaker.succeed(ticket):
            _logger.warning("the language model responds again")
