"""Admission: how many requests of each kind work at a time, and how long others wait for a turn.

Under overload requests wait in order of arrival, for a second at most, and are then refused with
503: what is accepted is answered in bounded time, and refusing costs almost nothing. Health checks
and metrics are never in the queue.
"""

import asyncio
from collections import deque

from starlette.types import ASGIApp, Receive, Scope, Send

from .settings import Limits
from .web_access import OPEN_PATHS
from .web_metrics import metrics
from .web_problems import problem_response

WAIT_SECONDS = 1.0
MAX_WAITING = 1024

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


class Admission:
    """ASGI middleware: a gate for each kind of work; an answer holds its slot until it ends."""

    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self._app = app
        self._gates = gates = {
            "search": Gate(limits.searches),
            "chat": Gate(limits.chats),
            "mcp": Gate(limits.mcp_calls),
        }
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
            response = problem_response(
                503,
                "The server has more requests than it can answer now; try again later.",
                headers={"Retry-After": "1"},
            )
            await response(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            gate.leave()
