"""Admission: how many requests of each kind work at a time, and how long others wait for a turn.

Under overload requests wait in order of arrival, for a second at most, and are then refused with
503: what is accepted is answered in bounded time, and refusing costs almost nothing. Health checks
and metrics are never in the queue.

Sending is not work: whoever reads slowly holds nothing that a search needs. An answer in pieces,
a stream, takes memory and time until it has been read, so that streams have a number of their own.
"""

import asyncio
from collections import Counter, deque
from collections.abc import MutableMapping
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from ..retrieval.settings import Limits
from .access import OPEN_PATHS, caller_of
from .metrics import metrics
from .problems import problem_response

WAIT_SECONDS = 1.0
MAX_WAITING = 1024

STALL_SECONDS = 30.0
MIN_BYTES_PER_SECOND = 16_384
"""A client may keep a stream waiting for STALL_SECONDS and the time that this rate gives it."""

BUSY = "The server has more requests than it can answer now; try again later."

UNQUEUED_PATHS = OPEN_PATHS | {"/metrics"}
CHAT_PATHS = frozenset({"/chat", "/v1/chat/completions"})


def kind_of_work(method: str, path: str) -> str | None:
    """The queue of a request, `search`, `chat` or `mcp`; None if it has none."""
    if path in UNQUEUED_PATHS:
        return None
    # GET /chat is the page for it.
    if path in CHAT_PATHS and method == "POST":
        return "chat"
    return "mcp" if path == "/mcp" or path.startswith("/mcp/") else "search"


class Gate:
    """Lets `slots` requests work at a time; up to MAX_WAITING more wait their turn, in order.

    For one event loop; not safe to share between threads.
    """

    def __init__(self, slots: int) -> None:
        self._slots = self._free = slots
        self._turns: deque[asyncio.Future[bool]] = deque()

    @property
    def working(self) -> int:
        """Requests that have a slot."""
        return self._slots - self._free

    @property
    def waiting(self) -> int:
        """Requests that wait for one."""
        return len(self._turns)

    async def enter(self) -> bool:
        """Take a slot, to be given back with `leave`; False if none came free in time."""
        if self._free:
            self._free -= 1
            return True
        if len(self._turns) >= MAX_WAITING:
            return False
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[bool] = loop.create_future()
        self._turns.append(turn)
        timer = loop.call_later(WAIT_SECONDS, self._give_up, turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.result():
                self.leave()
            raise
        finally:
            timer.cancel()

    def leave(self) -> None:
        """Hand the slot on, in the next round of the event loop.

        A search never waits for anything, so without that pause all that have arrived would be
        answered before the loop looked at its sockets again, health checks among them.
        """
        asyncio.get_running_loop().call_soon(self._hand_on)

    def _hand_on(self) -> None:
        while self._turns:
            turn = self._turns.popleft()
            if not turn.done():
                turn.set_result(True)
                return
        self._free += 1

    def _give_up(self, turn: asyncio.Future[bool]) -> None:
        if not turn.done():
            self._turns.remove(turn)
            turn.set_result(False)


class StreamRefusedError(Exception):
    """A stream cannot begin now; nothing of its answer has been sent."""


class StreamTooSlowError(Exception):
    """A client does not read a stream that it asked for."""


class Streams:
    """Lets `slots` streams be sent at a time, half of them to one caller."""

    def __init__(self, slots: int) -> None:
        self.gate = Gate(slots)
        self._share = max(1, slots // 2)
        self._callers: Counter[bytes] = Counter()

    async def enter(self, caller: bytes) -> bool:
        """Take a slot, to be given back with `leave`; False if none came free in time."""
        if self._callers[caller] >= self._share:
            return False
        self._callers[caller] += 1
        entered = False
        try:
            entered = await self.gate.enter()
        finally:
            if not entered:
                self._forget(caller)
        return entered

    def leave(self, caller: bytes) -> None:
        """Give the slot back."""
        self._forget(caller)
        self.gate.leave()

    def _forget(self, caller: bytes) -> None:
        self._callers[caller] -= 1
        if not self._callers[caller]:
            del self._callers[caller]


class Answer:
    """Sends one answer, and gives the slot of its work back as soon as the work is done.

    That is when its body is there, or begins to come in pieces; a chat goes on working until it
    ends. The head of an answer is held until it is known which of these it is.
    """

    def __init__(self, send: Send, gate: Gate, streams: Streams, caller: bytes | None) -> None:
        self._send = send
        self._gate: Gate | None = gate
        self._streams = streams
        self._caller = caller
        self._is_stream = False
        self._head: MutableMapping[str, Any] | None = None
        self._sent = 0
        self._waited = 0.0

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Send a part. Raises StreamRefusedError and StreamTooSlowError."""
        if message["type"] == "http.response.start":
            self._head = message
            return
        if self._head is not None:
            await self._begin(self._head, message)
        if not self._is_stream:
            await self._send(message)
            return
        clock = asyncio.get_running_loop().time
        begun = clock()
        await self._send(message)
        self._waited += clock() - begun
        self._sent += len(message.get("body", b""))
        if self._waited > STALL_SECONDS + self._sent / MIN_BYTES_PER_SECOND:
            raise StreamTooSlowError

    async def _begin(self, head: MutableMapping[str, Any], first: MutableMapping[str, Any]) -> None:
        if self._caller is not None:
            self.end_work()
            if first.get("more_body"):
                if not await self._streams.enter(self._caller):
                    raise StreamRefusedError
                self._is_stream = True
        self._head = None
        await self._send(head)

    def end_work(self) -> None:
        """Give the slot of the work back, if it has not been given back."""
        if self._gate is not None:
            self._gate.leave()
            self._gate = None

    def end(self) -> None:
        """Give everything back."""
        self.end_work()
        if self._is_stream and self._caller is not None:
            self._streams.leave(self._caller)


class Admission:
    """ASGI middleware: a gate for each kind of work, and one for streams."""

    def __init__(self, app: ASGIApp, *, limits: Limits, by_token: bool) -> None:
        """With `by_token`, callers are told apart by their tokens, which have been checked."""
        self._app = app
        self._by_token = by_token
        self._gates = {
            "search": Gate(limits.searches),
            "chat": Gate(limits.chats),
            "mcp": Gate(limits.mcp_calls),
        }
        self._streams = Streams(limits.streams)
        gates = {**self._gates, "stream": self._streams.gate}
        metrics.gauge(
            "http_requests_working", lambda: {(kind,): gate.working for kind, gate in gates.items()}
        )
        metrics.gauge(
            "http_requests_waiting", lambda: {(kind,): gate.waiting for kind, gate in gates.items()}
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it with 503."""
        kind = kind_of_work(scope["method"], scope["path"]) if scope["type"] == "http" else None
        if kind is None:
            await self._app(scope, receive, send)
            return
        gate = self._gates[kind]
        if not await gate.enter():
            await _refuse(scope, receive, send)
            return
        caller = None if kind == "chat" else caller_of(scope, by_token=self._by_token)
        answer = Answer(send, gate, self._streams, caller)
        try:
            await self._app(scope, receive, answer.send)
        except StreamRefusedError:
            await _refuse(scope, receive, send)
        except StreamTooSlowError:
            # The answer stays unfinished, which closes the connection.
            return
        finally:
            answer.end()


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    await problem_response(503, BUSY, headers={"Retry-After": "1"})(scope, receive, send)
