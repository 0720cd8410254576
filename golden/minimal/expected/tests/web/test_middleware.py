"""The checks in front of the endpoints: Host, Origin, callers, body limits."""

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from workshop.hosts import plain_host
from workshop.settings import Limits
from workshop.web.middleware import MAX_BODY_MESSAGES, Middleware
from workshop.web.problems import describe_failure
from workshop.web.slots import Slots

LIMITS = Limits(
    connections=9,
    searches=9,
    streams=9,
    chats=9,
    mcp_calls=9,
)
Headers = list[tuple[bytes, bytes]]


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 200 with the body."""
    message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": message["body"]})


class Client:
    """Sends one request at a time to the middleware, without a library that would correct it."""

    def __init__(
        self,
        *hosts: str,
        app: ASGIApp = echo,
        limit: int = 1000,
        address: str = "10.1.2.3",
        **options: Any,
    ) -> None:
        self.middleware = Middleware(
            app,
            allowed_hosts=frozenset(hosts),
            limits=LIMITS,
            max_body_bytes=limit,
            **options,
        )
        self._address = address
        self.port = 8000
        self.received = 0
        self.headers: dict[bytes, bytes] = {}
        self.body = b""

    def request(
        self,
        headers: Headers,
        pieces: list[bytes] | None = None,
        *,
        path: str = "/search",
        method: str = "POST",
        stalls: bool = False,
        goes_away: bool = False,
    ) -> int:
        """The status of the response; 0 if there is none."""
        status = 0
        pending = deque(pieces or [b""])

        async def receive() -> Message:
            self.received += 1
            if not pending:
                if stalls:
                    await asyncio.sleep(60)
                return {"type": "http.disconnect"}
            more = len(pending) > 1 or stalls or goes_away
            return {"type": "http.request", "body": pending.popleft(), "more_body": more}

        async def send(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self.headers = dict(message["headers"])
            else:
                self.body = message["body"]

        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "headers": headers,
            "server": (self._address, self.port),
        }
        asyncio.run(self.middleware(scope, receive, send))
        return status


def with_host(host: str, **headers: str) -> Headers:
    named = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return [(b"host", host.encode()), *named]


OWN_HOSTS = """localhost localhost:8000 LOCALHOST:1 127.0.0.1:8000 [::1]:8000 docs.example.com
    Docs.Example.com:444 other.example.com:8443""".split()
OTHER_HOSTS = """other.example.com other.example.com:8000 evil.example evil.example:8000
    docs.example.com.evil.example localhost.evil.example 127.0.0.1.evil.example 127.0.0.2 10.9.9.9
    [::2] :8000 localhost: localhost:port user@localhost localhost/ loc\xe4lhost""".split()


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "::1", "fe80::1"])
@pytest.mark.parametrize(
    ("hosts", "status"), [(OWN_HOSTS, 200), ([*OTHER_HOSTS, "", "localhost, evil.example"], 421)]
)
def test_only_known_hosts_are_accepted(address: str, hosts: list[str], status: int) -> None:
    client = Client("docs.example.com", "other.example.com:8443", address=address)
    assert {host: client.request(with_host(host)) for host in hosts} == dict.fromkeys(hosts, status)


SPELLINGS = {
    "10.1.2.3": ["10.1.2.3:8000", "10.1.2.3", "[::ffff:10.1.2.3]:8000", "[::FFFF:a01:203]"],
    "fe80::1": ["[fe80::1]:8000", "[FE80:0:0::1]", "[fe80::0001]:8000"],
}
ADDRESSES = {
    **SPELLINGS,
    # Dual-stack sockets report IPv4 addresses like the first of these; the second is link-local.
    "::ffff:10.1.2.3": SPELLINGS["10.1.2.3"],
    "fe80::1%eth0": SPELLINGS["fe80::1"],
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_host_may_be_the_address_itself(address: str) -> None:
    client = Client(address=address)
    for host in ADDRESSES[address]:
        assert client.request(with_host(host)) == 200, host
        assert client.request(with_host(host, origin=f"http://{host}")) == 200, host
        for other in ("http://10.1.2.4:8000", "http://[fe80::2]:8000", "http://10.1.2.3.example"):
            assert client.request(with_host(host, origin=other)) == 403, other
    for host in ("10.1.2.4:8000", "[::ffff:10.1.2.4]:8000", "[fe80::2]", "[::10.1.2.3]", "[::1"):
        assert client.request(with_host(host)) == 421, host


@pytest.mark.parametrize(
    "host", ["[::ffff:127.0.0.1]:8000", "[0:0:0:0:0:0:0:1]", "[::ffff:7f00:1]"]
)
def test_every_spelling_of_loopback_is_accepted(host: str) -> None:
    client = Client(address="::ffff:10.1.2.3")
    assert client.request(with_host(host)) == 200
    port = host.partition("]")[2]
    assert client.request(with_host(host, origin=f"http://localhost{port}")) == 200
    assert client.request(with_host(host, origin=f"http://[::1]{port}")) == 200


def test_a_refused_host_is_named_with_the_remedy() -> None:
    client = Client()
    assert client.request(with_host("docs.example.com", accept="application/json")) == 421
    assert b"add docs.example.com to the variable ALLOWED_HOSTS" in client.body
    assert client.headers[b"content-type"] == b"application/problem+json"
    assert client.request(with_host("docs.example.com", accept="text/html, */*")) == 421
    assert (
        b"<p>" in client.body
        and b"add docs.example.com to the variable ALLOWED_HOSTS" in client.body
    )
    assert client.headers[b"content-type"].startswith(b"text/html")
    assert client.headers[b"content-security-policy"] == b"default-src 'none'"
    assert client.request(with_host("<b>.example", accept="text/html")) == 421
    assert b"<b>" not in client.body


@pytest.mark.parametrize("hosts", [[], [b"localhost", b"localhost"], [b"localhost", b"evil"]])
def test_exactly_one_host_header_is_required(hosts: list[bytes]) -> None:
    client = Client()
    assert client.request([(b"host", host) for host in hosts]) == 400


OWN_ORIGINS = """http://localhost:8000 https://localhost:8000 HTTP://LOCALHOST:8000
    https://docs.example.com http://127.0.0.1:8000 http://[::1]:8000""".split()
OTHER_ORIGINS = """http://127.0.0.1:3000 http://127.0.0.2:8000
    http://localhost:3000 http://localhost null * http://evil.example file://
    http://EVIL.example http://localhost:8000.evil.example http://localhost:8000@evil.example
    https://docs.example.com:444 localhost:8000 chrome-extension://localhost:8000""".split()


@pytest.mark.parametrize("path", ["/search", "/healthz", "/openapi.json", "/nowhere"])
@pytest.mark.parametrize(("origins", "status"), [(OWN_ORIGINS, 200), ([*OTHER_ORIGINS, ""], 403)])
def test_only_known_origins_are_accepted(origins: list[str], status: int, path: str) -> None:
    client = Client("docs.example.com")
    for origin in origins:
        headers = with_host("localhost:8000", Origin=origin)
        assert (origin, client.request(headers, path=path)) == (origin, status)
        assert not [name for name in client.headers if name.startswith(b"access-control")]
    # The names of this machine are equivalent, but only to each other.
    headers = with_host("docs.example.com", Origin="http://localhost")
    assert client.request(headers, path=path) == 403


def test_a_proxy_may_leave_the_port_out_of_the_host() -> None:
    client = Client("docs.example.com", "other.example.com:8443")
    for host, origins in {
        "docs.example.com": ["https://docs.example.com", "https://docs.example.com:8443"],
        "localhost": ["http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:3000"],
    }.items():
        for origin in origins:
            assert client.request(with_host(host, Origin=origin)) == 200, origin
        for origin in ("http://evil.example:8080", "http://localhost.evil.example", "http://:80"):
            assert client.request(with_host(host, Origin=origin)) == 403, origin
    # Browsers omit only the default port of a scheme, so an origin with another port is refused.
    client.port = 80
    assert client.request(with_host("localhost", Origin="http://localhost:8080")) == 403


def refuse(scope: Scope) -> None:
    raise HTTPException(401, scope["path"])


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS", "DELETE", "QUERY"])
def test_every_path_but_health_checks_needs_a_token(method: str) -> None:
    client = Client(check_token=refuse)
    for path in ("/search", "/documents", "/openapi.json", "/nowhere", "/healthz/", "//healthz"):
        assert client.request(with_host("localhost"), path=path, method=method) == 401
        assert client.request(with_host("evil.example"), path=path, method=method) == 421
    for path in ("/healthz", "/readyz"):
        assert client.request(with_host("localhost"), path=path, method=method) == 200


def test_body_of_a_refused_request_is_not_read() -> None:
    client = Client(check_token=refuse)
    headers = [*with_host("localhost"), (b"transfer-encoding", b"chunked")]
    assert client.request(headers, [b"x"] * 10) == 401
    assert client.received == 0
    assert client.headers[b"connection"] == b"close"


def test_each_kind_of_request_has_its_rate_limit() -> None:
    client = Client(check_rates={"chat": refuse}, queues={"/chat": "chat"})
    for path in ("/search", "/healthz", "/metrics"):
        assert client.request(with_host("localhost"), path=path) == 200
    assert client.request(with_host("localhost"), path="/chat") == 401
    assert client.request(with_host("localhost"), path="/chat", method="GET") == 200


def test_body_with_a_large_declared_length_is_refused() -> None:
    client = Client(limit=10)
    assert client.request([*with_host("localhost"), (b"content-length", b"11")]) == 413
    assert client.received == 0
    assert client.headers[b"connection"] == b"close"
    headers = [*with_host("localhost"), (b"content-length", b"10")]
    assert client.request(headers, [b"01234", b"56789"]) == 200
    assert client.body == b"0123456789"


def test_body_that_grows_too_large_is_refused() -> None:
    client = Client(limit=10)
    headers = [*with_host("localhost"), (b"transfer-encoding", b"chunked")]
    assert client.request(headers, [b"0123456"] * 1000) == 413
    assert client.received == 2


def test_body_in_too_many_pieces_is_refused() -> None:
    client = Client(limit=10**9)
    headers = [*with_host("localhost"), (b"transfer-encoding", b"chunked")]
    assert client.request(headers, [b"x"] * MAX_BODY_MESSAGES) == 200
    client.received = 0
    assert client.request(headers, [b"x"] * 4 * 1024 * 1024) == 413
    assert client.received == MAX_BODY_MESSAGES + 1


def test_body_that_stalls_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workshop.web.middleware.BODY_SECONDS", 0.05)
    client = Client()
    headers = [*with_host("localhost"), (b"content-length", b"10")]
    assert client.request(headers, [b"0123"], stalls=True) == 408
    assert client.headers[b"connection"] == b"close"


def test_client_that_goes_away_gets_no_answer() -> None:
    client = Client()
    headers = [*with_host("localhost"), (b"content-length", b"10")]
    assert client.request(headers, [b"0123"], goes_away=True) == 0
    assert client.received == 2


def test_too_many_headers() -> None:
    client = Client()
    headers = with_host("localhost") + [(b"x-%d" % number, b"1") for number in range(100)]
    assert client.request(headers) == 431
    assert client.request(headers[:100]) == 200


def run(middleware: Middleware, method: str, headers: Headers) -> list[Message]:
    """The messages sent for a request whose body arrived in two chunks."""
    sent: list[Message] = []
    pieces = [
        {"type": "http.request", "body": b"01", "more_body": True},
        {"type": "http.request", "body": b"23", "more_body": False},
    ]

    async def receive() -> Message:
        return pieces.pop(0) if pieces else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "path": "/x", "headers": headers, "server": None}
    asyncio.run(middleware(scope, receive, send))
    return sent


@pytest.mark.parametrize(
    ("fields", "received"),
    [
        ([], [(b"01", True), (b"23", False)]),
        ([(b"content-length", b"0")], [(b"01", True), (b"23", False)]),
        ([(b"content-length", b"4")], [(b"0123", False)]),
        ([(b"transfer-encoding", b"chunked")], [(b"0123", False)]),
    ],
)
@pytest.mark.parametrize("method", ["POST", "GET", "HEAD"])
def test_application_gets_a_body_whole(
    method: str, fields: Headers, received: list[tuple[bytes, bool]]
) -> None:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["method"] == ("POST" if method == "POST" else "GET")
        messages = []
        while (message := await receive())["type"] == "http.request":
            messages.append((message["body"], message["more_body"]))
        assert messages == received
        await send({"type": "http.response.start", "status": 201, "headers": []})
        await send({"type": "http.response.body", "body": b"answer"})

    middleware = Client(app=application, limit=4).middleware
    start, body = run(middleware, method, [*with_host("localhost"), *fields])
    assert start["status"] == 201
    # The server drops the body of a response to HEAD.
    assert body["body"] == b"answer"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_ranges_are_for_get_alone(method: str) -> None:
    async def application(scope: Scope, _receive: Receive, send: Send) -> None:
        names = {name for name, _ in scope["headers"]}
        assert names == {b"host"} | ({b"range", b"if-range"} if method == "GET" else set())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"answer"})

    fields = [(b"range", b"bytes=0-1"), (b"if-range", b'"x"')]
    middleware = Client(app=application).middleware
    assert run(middleware, method, [*with_host("localhost"), *fields])[0]["status"] == 200


@pytest.mark.parametrize("started", [False, True])
def test_an_error_becomes_a_response_unless_one_has_begun(
    started: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if started:
            await send({"type": "http.response.body", "body": b"piece", "more_body": True})
        raise ZeroDivisionError

    middleware = Client(app=application).middleware
    if started:
        with pytest.raises(ZeroDivisionError):
            run(middleware, "GET", with_host("localhost"))
        assert caplog.messages == []
        return
    start, body = run(middleware, "GET", with_host("localhost"))
    assert (start["status"], b'"The server failed."' in body["body"]) == (500, True)
    assert caplog.messages == ["GET '/x' failed"]


def test_headers_of_the_application_are_kept() -> None:
    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-security-policy", b"default-src 'self'")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    client = Client(app=page)
    assert client.request(with_host("localhost")) == 200
    assert client.headers[b"content-security-policy"] == b"default-src 'self'"
    assert client.headers[b"x-content-type-options"] == b"nosniff"


def test_other_scopes_are_passed_on() -> None:
    seen = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)

    nothing: Any = None
    asyncio.run(Client(app=application).middleware({"type": "lifespan"}, nothing, nothing))
    assert seen == [{"type": "lifespan"}]


NO_WORK = "/healthz /readyz /metrics".split()
KINDS = dict.fromkeys("/search /documents/a /nowhere /healthz/ /mcpx".split(), "search")
KINDS |= {"/chat": "chat", "/v1/chat/completions": "chat"}
KINDS |= {"/mcp": "mcp", "/mcp/": "mcp"}


@pytest.mark.parametrize("path", [*NO_WORK, *KINDS])
def test_paths_take_slots_of_their_kind(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = KINDS.get(path)

    def kinds_of(method: str, **options: Any) -> list[str]:
        taken: list[Slots] = []

        async def take(self: Slots) -> None:
            taken.append(self)
            await self._free.acquire()

        monkeypatch.setattr(Slots, "take", take)
        answer = Client(**options).middleware
        head = {"method": method, "path": path, "headers": [(b"host", b"localhost")]}

        async def receive() -> Message:
            return {"type": "http.request", "body": b""}

        async def ignore(message: Message) -> None:
            pass

        asyncio.run(answer({"type": "http", **head}, receive, ignore))
        return [kind for slots in taken for kind, own in answer._slots.items() if own is slots]

    queues = {path: kind for path, kind in KINDS.items() if kind != "search"}
    assert kinds_of("POST", queues=queues) == [kind] * (kind is not None)
    assert kinds_of("GET", queues=queues) == ["search"] * (kind is not None)
    # Interfaces that were left out have no queue.
    assert kinds_of("POST") == ["search"] * (kind is not None)


def test_authorise_applies_to_all_but_health_checks() -> None:
    asked: list[tuple[str, str]] = []

    def authorise(method: str, path: str, headers: Mapping[str, str]) -> bool:
        asked.append((method, path))
        return headers.get("x-who") == "me"

    client = Client(authorise=authorise)
    for path in ("/search", "/metrics", "/mcp"):
        assert client.request(with_host("localhost"), path=path) == 403
        assert client.request([*with_host("localhost"), (b"x-who", b"me")], path=path) == 200
    assert client.request(with_host("evil.example")) == 421
    assert asked[:2] == [("POST", "/search")] * 2
    asked.clear()
    assert client.request(with_host("localhost"), path="/healthz") == 200
    assert asked == []


def test_refusals_use_the_error_response_of_the_application() -> None:
    async def answer(request: Request, error: Exception) -> Response:
        problem = describe_failure(request, error)
        return PlainTextResponse(f"{problem.status} {problem.detail}", 418)

    client = Client(answer_failure=answer)
    assert client.request(with_host("evil.example"), path="/v1/models") == 418
    assert client.body.startswith(b"421 This server")


def test_a_long_host_name_is_refused_and_not_cached() -> None:
    before = plain_host.cache_info().currsize
    for number in range(3):
        assert Client().request(with_host(f"{'a' * 253}{number}")) == 421
    assert plain_host.cache_info().currsize == before
