"""A real server process on a real socket: input that HTTP libraries would not send."""

import asyncio
import socket
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, cast

import pytest
from raw_http import BODY, HEAD, HEALTH, SEARCH, Server, get, read_all, statuses

from foundry.runtime.web import connections, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.stop()
    assert server.wait() == 0


@pytest.fixture(scope="module")
def hasty() -> Iterator[Server]:
    """A server with short timeouts, for clients that are too slow."""
    server = Server(head_seconds=1.0, body_seconds=1.0, reading_seconds=1.0)
    yield server
    server.stop()
    assert server.wait() == 0


def test_announces_itself_in_one_line(server: Server) -> None:
    address = f"http://127.0.0.1:{server.port}"
    assert server.line == f"Serving Test on {address} (1 document, 2 chunks)\n"


def test_responses_do_not_reveal_the_server_software(server: Server) -> None:
    with server.connect() as connection:
        connection.sendall(SEARCH)
        answer = connection.recv(65536)
    assert statuses(answer) == [200]
    assert b"uvicorn" not in answer.lower()
    assert b"\r\nserver:" not in answer.lower()


def test_percent_encoded_ids_are_decoded(server: Server) -> None:
    path = b"/documents/a%2Fb%20c%252F%3F%23%C3%A9"
    answer = server.exchange(
        b"GET %b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % path
    )
    assert answer.endswith('{"id":"a/b c%2F?#é"}'.encode())


def test_200_mib_chunked_body(server: Server) -> None:
    before = server.peak_memory()
    piece = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    answer = server.exchange(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *[piece] * 200)
    assert statuses(answer) == [413]
    assert server.peak_memory() - before < 40_000


def test_4_mib_in_chunks_of_one_byte(server: Server) -> None:
    before = server.peak_memory()
    pieces = [b"1\r\nx\r\n" * 65_536] * 64
    answer = server.exchange(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *pieces)
    assert statuses(answer) == [413]
    assert server.peak_memory() - before < 40_000


@pytest.mark.parametrize("length", [262_145, 10**12, 10**18])
def test_declared_length_too_large(server: Server, length: int) -> None:
    answer = server.exchange(HEAD + b"Content-Length: %d\r\n\r\n" % length, b"x" * 100)
    assert statuses(answer) == [413]


@pytest.mark.parametrize(
    "fields",
    [
        b"Content-Length: -1\r\n",
        b"Content-Length: +14\r\n",
        b"Content-Length: 14a\r\n",
        b"Content-Length: \r\n",
        b"Content-Length: 14\r\nContent-Length: 14\r\n",
        b"Content-Length: 14\r\nContent-Length: 15\r\n",
        b"Content-Length: 14, 14\r\n",
        b"Content-Length: 14\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 14\r\n",
        b"Transfer-Encoding: gzip, identity\r\n",
        b"Content-Length: 99999999999999999999999\r\n",
    ],
)
def test_contradictory_lengths_are_refused(server: Server, fields: bytes) -> None:
    assert statuses(server.exchange(HEAD + fields + b"\r\n" + BODY)) == [400]


def test_length_less_than_the_body(server: Server) -> None:
    short = HEAD + b"Content-Length: 14\r\n\r\n" + BODY + b"and more"
    # The rest is parsed as a request, and may be rejected before the first one is answered.
    assert statuses(server.exchange(short))[-1] == 400


def test_length_more_than_the_body(hasty: Server) -> None:
    assert statuses(hasty.exchange(HEAD + b"Content-Length: 15\r\n\r\n" + BODY)) == [408]


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        (b"X-Large: " + b"x" * 1_000_000 + b"\r\n", 431),
        (b"X: 1\r\n" * 10_000, 431),
        (b"X: 1\r\n" * 200, 431),
        (b"Bad\x00Name: 1\r\n", 400),
        (b"Bad: a\x00b\r\n", 400),
        (b"Bad Name: 1\r\n", 400),
        (b": 1\r\n", 400),
        (b"NoColon\r\n", 400),
        (b"Host: localhost\r\n", 400),
        (b"Host: evil.example\r\n", 400),
    ],
    ids=["1 MB", "10000", "200", "nul name", "nul", "space", "empty", "no colon", "2", "2 evil"],
)
def test_headers_that_are_too_many_or_malformed(server: Server, fields: bytes, status: int) -> None:
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + fields + b"\r\n"
    assert statuses(server.exchange(request)) == [status]


def test_header_bytes_that_are_not_ascii_are_accepted(server: Server) -> None:
    request = (
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: \xff\xfe\r\nConnection: close\r\n\r\n"
    )
    assert statuses(server.exchange(request)) == [200]


def test_request_head_that_trickles_is_cut(hasty: Server) -> None:
    with hasty.connect() as connection:
        connection.settimeout(0.1)
        for byte in HEALTH[:-4] * 10:
            try:
                connection.sendall(bytes([byte]))
                if not connection.recv(1):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
            connection.settimeout(30)
            assert b" 408 " in b"H" + read_all(connection)
            break
        else:
            pytest.fail("the server waits for ever")


def test_blank_lines_do_not_keep_a_connection_open(hasty: Server) -> None:
    with hasty.connect() as connection:
        connection.sendall(HEALTH)
        assert connection.recv(65536)
        connection.settimeout(0.3)
        for _ in range(100):
            try:
                connection.sendall(b"\r\n")
                if not connection.recv(65536):
                    return
            except TimeoutError:
                continue
            except OSError:
                return
    pytest.fail("the server waits for ever")


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time can be advanced."""

    ahead_seconds = 0.0

    def time(self) -> float:
        return super().time() + self.ahead_seconds


PIECE = b"x" * 2_000_000


async def send_pieces(scope: Any, receive: Any, send: Any) -> None:
    """Send as many pieces as the path says."""
    count = int(scope["path"][1:])
    length = [(b"content-length", b"%d" % (count * len(PIECE)))]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    for _ in range(count):
        await send({"type": "http.response.body", "body": PIECE, "more_body": True})
    await send({"type": "http.response.body"})


@pytest.mark.parametrize("answers", [[1, 1, 1], [3]])
def test_every_response_and_every_piece_has_its_own_read_timeout(answers: list[int]) -> None:
    async def check(clock: Clock) -> None:
        server = serving.Server(send_pieces, 10)
        server.config.load()
        state = server.server_state
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        protocol = partial(
            connections.BoundedHttpProtocol, server_state=state, config=server.config
        )
        await clock.connect_accepted_socket(partial(protocol, app_state={}), theirs)
        with ours:
            for pieces in answers:
                await clock.sock_sendall(ours, get(f"/{pieces}", close=False))
                for _ in range(pieces):
                    while not state.unread:
                        await asyncio.sleep(0)
                    clock.ahead_seconds += connections.READING_SECONDS * 2 / 3
                    # Overdue timers run before anything is read.
                    await asyncio.sleep(0)
                    await asyncio.sleep(0)
                    left = len(PIECE)
                    while left:
                        received = len(await clock.sock_recv(ours, left))
                        assert received
                        left -= received

    with asyncio.Runner(loop_factory=Clock) as runner:
        runner.run(check(cast(Clock, runner.get_loop())))


def test_large_response_is_delivered_to_a_reading_client(server: Server) -> None:
    request = b"GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert len(server.exchange(request)) > 20_000_000


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
        (b"GET /healthz\r\n\r\n", 400),
        (b"GET /healthz HTTP/3.7\r\nHost: localhost\r\n\r\n", 400),
        (b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (b"TRACE /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 405),
        (HEAD + b"Expect: 100-continue\r\nContent-Length: 999999\r\n\r\n", 413),
    ],
)
def test_malformed_and_unusual_requests_are_refused(
    server: Server, request_: bytes, status: int
) -> None:
    assert statuses(server.exchange(request_)) == [status]


@pytest.mark.parametrize(
    "fields",
    [
        b"Range: bytes=0-1\r\n",
        b"Upgrade: h2c\r\nConnection: Upgrade\r\n",
        b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n",
        b"X-Forwarded-Host: evil.example\r\nX-Forwarded-For: 1.2.3.4\r\n",
    ],
)
def test_header_fields_without_effect(server: Server, fields: bytes) -> None:
    with server.connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + fields + b"\r\n")
        answer = connection.recv(65536)
    assert statuses(answer) == [200]
    assert b"evil" not in answer


def test_1000_pipelined_requests_are_all_answered(server: Server) -> None:
    answers = server.exchange(*[HEALTH * 100] * 9, HEALTH * 99 + get("/healthz"))
    assert statuses(answers) == [200] * 1000


def test_expect_100_continue_is_answered(server: Server) -> None:
    head = HEAD + b"Expect: 100-continue\r\nConnection: close\r\nContent-Length: 14\r\n\r\n"
    with server.connect() as connection:
        connection.sendall(head)
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(BODY)
        assert statuses(read_all(connection)) == [200]


@pytest.mark.parametrize("path", ["/healthz", "/documents/1", "/large", "/chat?seconds=0.2"])
def test_head_has_the_headers_of_get_and_no_body(server: Server, path: str) -> None:
    got, _, body = server.exchange(get(path)).partition(b"\r\n\r\n")
    request = get(path).replace(b"GET", b"HEAD", 1)
    head, _, nothing = server.exchange(request).partition(b"\r\n\r\n")
    assert body and not nothing
    fields, head_fields = (
        {line for line in lines.split(b"\r\n") if not line.startswith(b"x-request-id")}
        for lines in (got, head)
    )
    assert fields - head_fields <= {b"transfer-encoding: chunked"}


def test_head_of_missing_or_post_only_paths(server: Server) -> None:
    for path, status in (("/nowhere", b"404"), ("/search", b"405")):
        answer = server.exchange(get(path).replace(b"GET", b"HEAD", 1))
        assert answer.startswith(b"HTTP/1.1 " + status) and answer.endswith(b"\r\n\r\n")


def test_head_does_not_wait_for_the_end_of_a_stream(server: Server) -> None:
    head = HEALTH.replace(b"GET /healthz", b"HEAD /chat")
    assert statuses(server.exchange(head + get("/healthz"))) == [200] * 2


def test_a_body_that_trickles_is_cut(hasty: Server) -> None:
    with hasty.connect() as connection:
        connection.sendall(HEAD + b"Content-Length: 1000\r\n\r\n")
        # A body gets one second, however steadily its data arrives.
        with pytest.raises(OSError):
            for _ in range(900):
                connection.sendall(b"x")
                time.sleep(0.1)


@pytest.mark.parametrize(
    "path",
    ["/chat?seconds=3600", "/chat?seconds=3600&size=65536", "/stream?pieces=100000", "/stuck"],
)
def test_a_stop_waits_no_longer_than_the_grace_period(path: str) -> None:
    server = Server(grace=2.0, reading_seconds=3600)
    with server.connect() as connection:
        connection.sendall(get(path))
        if path != "/stuck":
            # The client reads no further, so a server that sends fast fills all buffers.
            assert b"200 OK" in connection.recv(64)
        with server.connect() as other:
            other.sendall(get("/stuck"))
            server.stop()
            assert server.wait() == 0
    assert [line["message"] for line in server.log if "exception" in line] == []
