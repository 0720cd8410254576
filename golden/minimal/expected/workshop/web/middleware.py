"""The one middleware: everything between a client and the routes, in the order of a request."""

import asyncio
import math
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..retrieval.hooks import Caller
from ..retrieval.settings import Limits
from .access import OPEN_PATHS, AccessPolicy
from .limits import RateLimit, Slots
from .observing import Outcome, observed_request
from .problems import Problems

BODY_SECONDS = 30.0
MAX_BODY_MESSAGES = 4096
"""A body that arrives byte by byte costs far more time than one of its length."""

SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'"),
    (b"referrer-policy", b"no-referrer"),
)
"""Set on every response that does not set them itself."""

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class Middleware:
    """Passes requests to the application, or refuses them with a problem document.

    The application gets a request when its whole body has arrived, `max_body_bytes` at most, and
    HEAD as GET. Every response has an X-Request-ID, the client's own if it sent a plain one.
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
        counts = {"search": limits.searches, "chat": limits.chats, "mcp": limits.mcp_calls}
        self._slots = {kind: Slots(kind, count) for kind, count in counts.items() if count}
        self._streams = Slots("stream", limits.streams)
        rates = {"search": limits.requests_per_minute, "chat": limits.chat_requests_per_minute}
        self._rates = {kind: RateLimit(rate) for kind, rate in rates.items() if rate}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = dict(scope["headers"]).get(b"x-request-id", b"")
        if not _REQUEST_ID.fullmatch(request_id):
            request_id = secrets.token_hex(8).encode()
        with observed_request(scope, request_id.decode()) as outcome:
            answer = _Answer(scope["method"] == "HEAD", send, request_id, outcome)
            try:
                await self._serve(scope, receive, answer)
            except _DoneError:
                pass
            except Exception as error:
                if answer.has_begun:
                    raise
                response = self._problems.response(scope, error)
                await response(scope, receive, answer.send)
            finally:
                answer.give_back()

    async def _serve(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        self._policy.check(scope)
        if self._authorise is not None and scope["path"] not in OPEN_PATHS:
            caller = Caller(scope["method"], scope["path"], dict(Headers(scope=scope)))
            if not self._authorise(caller):
                raise HTTPException(403, "This caller may not pass.")
        receive = await self._receive_body(dict(scope["headers"]), receive)
        answer.is_last = False
        if kind := self.kind_of_work(scope):
            self._check_rate(kind, scope)
            await answer.take(self._slots[kind])
            # A chat works until its response ends.
            answer.streams = None if kind == "chat" else self._streams
        inner = {**scope, "method": "GET"} if answer.is_head else scope
        try:
            await self._app(inner, receive, answer.send)
        finally:
            answer.outcome.route = getattr(inner.get("route"), "path_format", "none")

    async def _receive_body(self, headers: dict[bytes, bytes], receive: Receive) -> Receive:
        """Return what delivers the body to the application, whole."""
        length, most = int(headers.get(b"content-length", 0)), self._max_body_bytes
        if not length and b"transfer-encoding" not in headers:
            return receive
        body, pieces, is_more = bytearray(), 0, True
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while is_more and pieces < MAX_BODY_MESSAGES and max(length, len(body)) <= most:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _DoneError
                    body += message.get("body", b"")
                    is_more = message.get("more_body", False)
                    pieces += 1
        except TimeoutError:
            raise HTTPException(408, f"The body took longer than {BODY_SECONDS:.0f} s.") from None
        if is_more or len(body) > most:
            raise HTTPException(
                413, f"A body may have {most} bytes, in {MAX_BODY_MESSAGES} pieces."
            )
        whole: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def receive_whole() -> Message:
            return whole.pop() if whole else await receive()

        return receive_whole

    def kind_of_work(self, scope: Scope) -> str | None:
        """Name the queue of a request: `search`, `chat` or `mcp`; None if it need not wait."""
        path = scope["path"]
        if path in OPEN_PATHS or path == "/metrics":
            return None
        # GET /chat is the page for it.
        is_chat = "chat" in path.split("/") and scope["method"] == "POST"
        kind = "chat" if is_chat else "mcp" if path in {"/mcp", "/mcp/"} else "search"
        return kind if kind in self._slots else "search"

    def _check_rate(self, kind: str, scope: Scope) -> None:
        rate = self._rates.get("chat" if kind == "chat" else "search")
        if rate and (wait := math.ceil(rate.take(self._policy.caller(scope)))):
            detail = f"You ask too often; try again in {wait} s."
            raise HTTPException(429, detail, {"Retry-After": str(wait)})


class _DoneError(Exception):
    """There is nothing more to do: the request was HEAD, or its client has left."""


@dataclass(slots=True)
class _Answer:
    """Sends one response, holding its head back until it is known how the body comes.

    The slot of the work is given back when the body begins, so a slow reader holds nothing that a
    search needs. A body in pieces then takes a slot of `streams`, if there are any for it.
    """

    is_head: bool
    send_on: Send
    request_id: bytes
    outcome: Outcome
    streams: Slots | None = None
    held: Slots | None = None
    has_begun: bool = False
    # What is left of a body that was not read must not be taken for a request.
    is_last: bool = True
    head: Message = field(default_factory=dict)

    async def take(self, slots: Slots) -> None:
        await slots.take()
        self.held = slots

    def give_back(self) -> None:
        if self.held is not None:
            self.held.give_back()
            self.held = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.head = message
            return
        is_more = message.get("more_body", False)
        if not self.has_begun:
            if self.streams is not None:
                self.give_back()
                if is_more and not self.is_head:
                    await self.take(self.streams)
            self.has_begun = True
            self.outcome.status = self.head["status"]
            await self.send_on({**self.head, "headers": self._headers()})
        if self.is_head:
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        self.outcome.sent_bytes += len(message.get("body", b""))
        await self.send_on(message)
        if self.is_head and is_more:
            raise _DoneError

    def _headers(self) -> list[tuple[bytes, bytes]]:
        present = {name for name, _ in self.head["headers"]}
        missing = [header for header in SECURITY_HEADERS if header[0] not in present]
        close = [(b"connection", b"close")] if self.is_last else []
        return [*self.head["headers"], *missing, (b"x-request-id", self.request_id), *close]
