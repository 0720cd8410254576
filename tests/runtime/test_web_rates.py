"""Rate limits: the token bucket with a fake clock, then a real server.

The bucket's first steps are tested in exports.
"""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_http import Server, get, statuses
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from foundry.runtime.settings import Limits
from foundry.runtime.web import access as web_access
from foundry.runtime.web.access import RateLimit, rate_checks, token_check
from foundry.runtime.web.middleware import Middleware


def some_limits(*, requests_per_minute: int = 0, chat_requests_per_minute: int = 0) -> Limits:
    """Return limits of which only the rates matter."""
    return Limits(9, 9, 9, 9, 9, requests_per_minute, chat_requests_per_minute)


class Clock:
    """A fake monotonic clock."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@given(
    per_minute=st.integers(1, 100),
    pauses=st.lists(st.floats(0, 5, allow_nan=False), max_size=200),
)
def test_never_more_than_the_rate_allows(per_minute: int, pauses: list[float]) -> None:
    clock = Clock()
    limit = RateLimit(per_minute, clock)
    allowed = 0
    for pause in pauses:
        clock.now += pause
        wait = limit.take(b"a")
        allowed += wait == 0.0
        assert wait <= 60 / per_minute + 1e-6
    assert allowed <= per_minute + (clock.now - 1000) * per_minute / 60 + 1e-6


def test_waiting_as_long_as_told_is_enough() -> None:
    clock = Clock()
    limit = RateLimit(7, clock)
    for _ in range(100):
        if wait := limit.take(b"a"):
            clock.now += wait + 1e-9
            assert limit.take(b"a") == 0.0


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_access, "MAX_CALLERS", 100)
    limit = RateLimit(1, Clock())
    assert limit.take(b"mine") == 0.0
    for number in range(99):
        limit.take(b"%d" % number)
    assert limit.take(b"mine") > 0
    for number in range(10_000):
        limit.take(b"%d" % number)
    assert len(limit._buckets) == 100


@pytest.fixture(autouse=True)
def no_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("API_TOKENS", raising=False)


def client(**limits: int) -> TestClient:
    async def answer(_: object) -> PlainTextResponse:
        return PlainTextResponse("ok")

    paths = ("/search", "/mcp", "/chat", "/healthz", "/metrics")
    app = Starlette(routes=[Route(path, answer, methods=["GET", "POST"]) for path in paths])
    app.add_middleware(
        Middleware,
        allowed_hosts=frozenset(),
        limits=some_limits(**limits),
        max_body_bytes=1000,
        queues={"/chat": "chat", "/mcp": "mcp"},
        check_token=token_check(),
        check_rates=rate_checks(some_limits(**limits)),
    )
    return TestClient(app, base_url="http://localhost")


def test_searches_and_tools_share_a_limit_and_chats_have_another() -> None:
    asking = client(requests_per_minute=2, chat_requests_per_minute=1)
    assert [asking.get(path).status_code for path in ("/search", "/mcp", "/search", "/mcp")] == [
        200,
        200,
        429,
        429,
    ]
    assert [asking.post("/chat").status_code for _ in range(2)] == [200, 429]
    for path in ("/healthz", "/metrics") * 5:
        assert asking.get(path).status_code == 200


def test_zero_is_no_limit() -> None:
    asking = client()
    assert {asking.post(path).status_code for path in ("/search", "/chat") * 100} == {200}


def test_callers_are_told_apart_by_token_if_there_are_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("API_TOKENS", f"{'a' * 32},{'b' * 32}")
    asking = client(requests_per_minute=1)
    one, two = ({"Authorization": f"Bearer {name * 32}"} for name in "ab")
    again = {"Authorization": f"bearer  {'a' * 32} "}
    codes = [asking.get("/search", headers=sent).status_code for sent in (one, two, one, again)]
    assert codes == [200, 200, 429, 429]


def test_inventing_tokens_does_not_help_where_none_are_checked() -> None:
    asking = client(requests_per_minute=1)
    codes = [
        asking.get("/search", headers={"Authorization": f"Bearer {number}"}).status_code
        for number in range(3)
    ]
    assert codes == [200, 429, 429]


def test_callers_are_told_apart_by_address() -> None:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        asked.append(scope)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def refuse(message: object) -> None:
        pass

    asked: list[Scope] = []
    middleware = Middleware(
        answer,
        allowed_hosts=frozenset(),
        limits=some_limits(),
        max_body_bytes=1000,
        check_rates=rate_checks(some_limits(requests_per_minute=1)),
    )
    head = {"method": "GET", "path": "/search", "headers": [(b"host", b"localhost")]}
    search: Scope = {"type": "http", **head}
    scopes = [{**search, "client": client} for client in (("10.0.0.1", 5), ("10.0.0.2", 5), None)]
    for scope in (*scopes, *scopes, {**search, "client": ("10.0.0.1", 6)}):
        asyncio.run(middleware(scope, receive, refuse))
    assert asked == scopes


def test_refusal_says_when_to_come_back() -> None:
    server = Server(requests_per_minute=3)
    answers = [server.exchange(get("/busy")) for _ in range(4)]
    assert [statuses(answer)[0] for answer in answers] == [200, 200, 200, 429]
    seconds = int(answers[-1].partition(b"retry-after: ")[2].partition(b"\r\n")[0])
    assert 1 <= seconds <= 20
    assert statuses(server.exchange(get("/healthz"))) == [200]
    server.stop()
    assert server.wait() == 0
