"""The checks between a client and the routes, in order."""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, InitVar, dataclass, field

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..hosts import HOST, plain_host, plain_host_and_port
from ..settings import Limits
from .problems import answer_failure
from .slots import Slots
from .stopping import stopping

OPEN_PATHS = frozenset({"/healthz", "/readyz"})  # Health checks need no token and no slot.
WEB_PORTS = frozenset({80, 443})
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
MAX_HEADERS = 100
BODY_SECONDS = 30.0
MAX_BODY_MESSAGES = 4096  # A body that arrives byte by byte costs far more time than a whole one.

SECURITY_HEADERS = (  # Set on every response unless the response sets them.
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'"),
    (b"referrer-policy", b"no-referrer"),
)

_RANGES = (b"range", b"if-range")
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


@dataclass(slots=True)
class Outcome:
    """How a request ended; the status is 499, as in nginx, if the client disconnected first."""

    status: int = 499
    sent_bytes: int = 0
    route: str = "none"


Check = Callable[[Scope], None]
"""Raises HTTPException to reject a request."""

Observe = Callable[[Scope, str], AbstractContextManager[Outcome]]
"""Returns a context for a request, given its scope and id; the outcome is filled in later."""


@dataclass(eq=False)
class Middleware:
    """Passes requests to the application, or responds with a problem document.

    The application gets a request once its whole body has arrived, up to `max_body_bytes`, and gets
    HEAD as GET. Every response has an X-Request-ID: the client's, if it sent a valid one.
    """

    app: ASGIApp
    _: KW_ONLY
    allowed_hosts: frozenset[str]
    limits: InitVar[Limits]
    max_body_bytes: int
    answer_failure: Callable[[Request, Exception], Awaitable[Response]] = answer_failure
    observe: Observe = lambda _scope, _request_id: nullcontext(Outcome())
    # Kind of slot for POST requests, `chat` or `mcp`, by path; others take a `search` slot.
    queues: Mapping[str, str] = field(default_factory=dict)
    check_token: Check | None = None
    check_rates: Mapping[str, Check] = field(default_factory=dict)  # By kind of slot
    authorise: Callable[[str, str, Mapping[str, str]], bool] | None = None

    def __post_init__(self, limits: Limits) -> None:
        self._slots = {"search": Slots(limits.searches)}
        self._slots["chat"] = Slots(limits.chats)
        self._slots["mcp"] = Slots(limits.mcp_calls)
        self._streams = Slots(limits.streams)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = dict(scope["headers"]).get(b"x-request-id", b"")
        if not _REQUEST_ID.fullmatch(request_id):
            request_id = secrets.token_hex(8).encode()
        with self.observe(scope, request_id.decode()) as outcome:
            answer = _Answer(send, request_id, outcome, is_head=scope["method"] == "HEAD")
            failure: Exception | None = None
            try:
                await self._serve(scope, receive, answer)
            except ClientDisconnect:
                failure = answer.refusal
            except asyncio.CancelledError:
                # The server has stopped and closed the connection, so no response can be sent.
                if not stopping.has_begun:
                    raise
            except Exception as error:
                if answer.has_begun:
                    raise
                failure = error
            finally:
                answer.give_back()
            if failure is not None:
                response = await self.answer_failure(Request(scope), failure)
                await response(scope, receive, answer.send)

    async def _serve(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        check_head(scope, self.allowed_hosts)
        is_open = scope["path"] in OPEN_PATHS
        if self.check_token is not None and not is_open:
            self.check_token(scope)
        if self.authorise is not None and not is_open:
            headers = dict(Headers(scope=scope))
            if not self.authorise(scope["method"], scope["path"], headers):
                raise HTTPException(403, "This caller is not authorised.")
        receive = await self._receive_body(scope, receive)
        answer.is_last = False
        if scope["path"] not in (*OPEN_PATHS, "/metrics"):
            kind = "search"
            if scope["method"] == "POST":
                kind = self.queues.get(scope["path"], kind)
            if kind in self.check_rates:
                self.check_rates[kind](scope)
            await answer.take(self._slots[kind])
            # A chat occupies its slot until the response ends.
            answer.streams = None if kind == "chat" else self._streams
        inner = scope
        if scope["method"] == "HEAD":
            # Ranges are only for GET (RFC 9110, section 14.2).
            fields = [field for field in scope["headers"] if field[0] not in _RANGES]
            inner = {**scope, "method": "GET", "headers": fields}
        try:
            await self.app(inner, receive, answer.send)
        finally:
            answer.outcome.route = getattr(inner.get("route"), "path_format", "none")

    async def _receive_body(self, scope: Scope, receive: Receive) -> Receive:
        """Return a `receive` that delivers the whole body at once.

        Raises HTTPException 413 for a body that is too large, and 408 for one that is too slow.
        """
        headers, most = dict(scope["headers"]), self.max_body_bytes
        length = int(headers.get(b"content-length", 0))
        if not length and b"transfer-encoding" not in headers:
            return receive
        detail = f"A body may have at most {most} bytes, in {MAX_BODY_MESSAGES} pieces."
        if length > most:
            raise HTTPException(413, detail)
        body, pieces = bytearray(), 0
        try:
            async with asyncio.timeout(BODY_SECONDS):
                async for piece in Request(scope, receive).stream():
                    body += piece
                    pieces += bool(piece)
                    if len(body) > most or pieces > MAX_BODY_MESSAGES:
                        raise HTTPException(413, detail)
        except TimeoutError:
            raise HTTPException(408, f"The body took longer than {BODY_SECONDS:.0f} s.") from None
        whole: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

        async def receive_whole() -> Message:
            return whole.pop() if whole else await receive()

        return receive_whole


def check_head(scope: Scope, allowed_hosts: frozenset[str]) -> None:
    """Raise HTTPException 400, 403, 421 or 431 for a head that is invalid or for another server.

    Accepted hosts are loopback names, the address of the connection, and the allowed hosts, each
    with or without a port. This blocks DNS rebinding: web pages that point their own name at this
    machine.
    """
    if len(scope["headers"]) > MAX_HEADERS:
        raise HTTPException(431, f"A request may have at most {MAX_HEADERS} header fields.")
    hosts = values_of(scope, b"host")
    if len(hosts) != 1:
        raise HTTPException(400, "A request needs exactly one Host header.")
    host = plain_host_and_port(hosts[0].decode("latin-1").lower())
    parts, server = HOST.fullmatch(host), scope.get("server")
    is_address = parts and server and parts["name"] == plain_host(str(server[0]))
    names = {host, parts["name"]} if parts else set()
    if not is_address and names.isdisjoint(LOOPBACK | allowed_hosts):
        named = parts["name"] if parts else "the host name"
        detail = f"to allow it, the owner can add {named} to the variable ALLOWED_HOSTS"
        raise HTTPException(421, f"This server does not answer for this Host; {detail}.")
    senders = {host, *allowed_hosts}
    if parts and parts["name"] in LOOPBACK:
        # A page on this machine may use another name of the machine.
        senders |= {name + host.removeprefix(parts["name"]) for name in LOOPBACK}
    # Browsers omit the port only if it is the default of the scheme; otherwise a proxy has dropped
    # it (nginx's $host).
    is_without_port = parts and server and not (parts["port"] or server[1] in WEB_PORTS)
    for origin in values_of(scope, b"origin"):
        scheme, _, written = origin.decode("latin-1").lower().partition("://")
        sender = plain_host_and_port(written)
        names = {sender, sender.rpartition(":")[0]} if is_without_port else {sender}
        if scheme not in {"http", "https"} or senders.isdisjoint(names):
            raise HTTPException(403, "Pages from this Origin may not use this server.")


def values_of(scope: Scope, name: bytes) -> list[bytes]:
    """Return every value of a header."""
    return [value for field, value in scope["headers"] if field == name]


@dataclass(slots=True)
class _Answer:
    """Sends one response, holding back its head until it is known whether the body is streamed.

    The slot of the work is released when the body begins, so that a slow reader does not occupy a
    slot that searches need. A streamed body then takes a slot of `streams`, if there are any.
    """

    send_on: Send
    request_id: bytes
    outcome: Outcome
    is_head: bool
    streams: Slots | None = None
    held: Slots | None = None
    has_begun: bool = False
    # Whether the connection closes: unread parts of a body must not be parsed as the next request.
    is_last: bool = True
    head: Message = field(default_factory=dict)
    refusal: HTTPException | None = None

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
        if not self.has_begun:
            if self.streams is not None:
                self.give_back()
                if message.get("more_body", False):
                    try:
                        await self.take(self.streams)
                    except HTTPException as refusal:
                        # FastAPI assumes that the response has begun, and would report a failure.
                        self.refusal = refusal
                        raise ClientDisconnect from None
            self.has_begun = True
            self.outcome.status = self.head["status"]
            await self.send_on({**self.head, "headers": self._headers()})
        if self.is_head and message.get("more_body", False):
            await self.send_on({"type": "http.response.body"})
            # This stops the application, which would otherwise produce a body without a receiver.
            raise ClientDisconnect
        self.outcome.sent_bytes += len(message.get("body", b""))
        await self.send_on(message)

    def _headers(self) -> list[tuple[bytes, bytes]]:
        present = {name for name, _ in self.head["headers"]}
        missing = [header for header in SECURITY_HEADERS if header[0] not in present]
        close = [(b"connection", b"close")] if self.is_last else []
        return [*self.head["headers"], *missing, (b"x-request-id", self.request_id), *close]
