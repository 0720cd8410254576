"""The one middleware: all that stands between a client and the routes, in the order of a request.

It observes the request, checks who asks, takes the body in, and waits for a turn to work.
"""

import asyncio
import logging
import math
import re
import secrets
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..retrieval.hooks import Caller
from ..retrieval.settings import Limits
from .access import OPEN_PATHS, AccessPolicy
from .limits import Answer, AnswerEndedError, RateLimit, Slots, StreamRefusedError, StreamSlots
from .observing import NO_ROUTE, observed_request
from .problems import Problem, Problems

BODY_SECONDS = 30.0
"""Within this time the whole body must have arrived, however steadily it trickles."""

MAX_BODY_MESSAGES = 4096
"""Pieces that a body may come in: one byte at a time costs far more than its bytes."""

UNQUEUED_PATHS = OPEN_PATHS | {"/metrics"}
MCP_PATHS = frozenset({"/mcp", "/mcp/"})

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_logger = logging.getLogger(__name__)


class Middleware:
    """Serves requests through the application, or refuses them with a problem.

    The application gets requests whose body has arrived in full, at most `max_body_bytes` of it,
    and HEAD as GET: the answer's body is dropped on its way out. Every answer has an X-Request-ID,
    the caller's own if it sent a plain one.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        policy: AccessPolicy,
        limits: Limits,
        max_body_bytes: int,
        problems: Problems | None = None,
        authorise: Callable[[Caller], bool] | None = None,
    ) -> None:
        self._app = app
        self._policy = policy
        self._max_body_bytes = max_body_bytes
        self._problems = problems or Problems()
        self._authorise = authorise
        self._streams = StreamSlots(limits.streams)
        self._slots = {"search": Slots("search", limits.searches)}
        self._rates: dict[str, RateLimit] = {}
        if limits.chats is not None:
            self._slots["chat"] = Slots("chat", limits.chats)
        if limits.mcp_calls is not None:
            self._slots["mcp"] = Slots("mcp", limits.mcp_calls)
        if limits.requests_per_minute:
            self._rates["search"] = self._rates["mcp"] = RateLimit(limits.requests_per_minute)
        if limits.chat_requests_per_minute:
            self._rates["chat"] = RateLimit(limits.chat_requests_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        with observed_request(scope, request_id.decode()) as outcome:
            answer = Answer(scope, send, outcome, request_id)
            try:
                await self._serve(scope, receive, answer)
            except AnswerEndedError:
                return
            except Exception as error:
                if answer.has_begun:
                    raise
                if isinstance(error, HTTPException):
                    problem = Problem(error.status_code, error.detail, headers=error.headers or {})
                else:
                    _logger.exception("%s %a failed", scope["method"], scope["path"])
                    problem = Problem(500, "The server failed.")
                response = self._problems.response(scope["path"], problem)
                await response(scope, receive, answer.send)
            finally:
                answer.end()

    async def _serve(self, scope: Scope, receive: Receive, answer: "Answer") -> None:
        """Check, wait for a turn, and call the application. Raises HTTPException to refuse."""
        try:
            self._policy.check(scope)
            self._check_hook(scope)
            receive_body = await self._receive_body(scope, receive)
        except HTTPException as refusal:
            # Whatever the client still sends is not read.
            refusal.headers = {**(refusal.headers or {}), "Connection": "close"}
            raise
        if receive_body is None:
            return
        await self._take_turn(scope, answer)
        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        try:
            await self._app(inner, receive_body, answer.send)
        except StreamRefusedError:
            raise _busy() from None
        finally:
            answer.outcome.route = getattr(inner.get("route"), "path_format", None) or NO_ROUTE

    def _check_hook(self, scope: Scope) -> None:
        """Ask the owner's hook, if there is one. Raises HTTPException 403."""
        if self._authorise is None or scope["path"] in OPEN_PATHS:
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        if not self._authorise(Caller(scope["method"], scope["path"], headers)):
            raise HTTPException(403, "This caller may not pass.")

    async def _receive_body(self, scope: Scope, receive: Receive) -> Receive | None:
        """Return what delivers the body to the application; None if the client went away.

        Raises HTTPException: 413 for a body that is too large, 408 for one that is too slow.
        """
        length = None
        for name, value in scope["headers"]:
            if name == b"content-length":
                length = int(value)
            elif name == b"transfer-encoding":
                length = -1
        if not length:
            return receive
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                for _ in range(MAX_BODY_MESSAGES if length <= self._max_body_bytes else 0):
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    body += message.get("body", b"")
                    if len(body) > self._max_body_bytes:
                        break
                    if not message.get("more_body", False):
                        return _replay(bytes(body), receive)
        except TimeoutError:
            raise HTTPException(408, f"The body took longer than {BODY_SECONDS:.0f} s.") from None
        raise HTTPException(
            413, f"A body may have {self._max_body_bytes} bytes, in {MAX_BODY_MESSAGES} pieces."
        )

    async def _take_turn(self, scope: Scope, answer: "Answer") -> None:
        """Take a slot for the work. Raises HTTPException, 429 or 503."""
        kind = self.kind_of_work(scope)
        if kind is None:
            return
        caller = self._policy.caller(scope)
        if (rate := self._rates.get(kind)) and (wait := rate.take(caller)):
            seconds = str(math.ceil(wait))
            raise HTTPException(
                429, f"You ask too often; try again in {seconds} s.", {"Retry-After": seconds}
            )
        slots = self._slots[kind]
        if not await slots.take():
            raise _busy()
        # A chat works until its answer ends, and ends it itself if its client does not read.
        answer.begin_work(slots, None if kind == "chat" else self._streams, caller)

    def kind_of_work(self, scope: Scope) -> str | None:
        """Name the queue of a request: `search`, `chat` or `mcp`; None if it has none."""
        path = scope["path"]
        if path in UNQUEUED_PATHS:
            return None
        # GET /chat is the page for it.
        if "chat" in path.split("/") and scope["method"] == "POST" and "chat" in self._slots:
            return "chat"
        return "mcp" if path in MCP_PATHS and "mcp" in self._slots else "search"


def _busy() -> HTTPException:
    detail = "The server has more requests than it can answer now; try again later."
    return HTTPException(503, detail, {"Retry-After": "1"})


def _request_id(scope: Scope) -> bytes:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return bytes(value)
    return secrets.token_hex(8).encode()


def _replay(body: bytes, receive: Receive) -> Receive:
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_replayed() -> Message:
        return pending.pop() if pending else await receive()

    return receive_replayed
