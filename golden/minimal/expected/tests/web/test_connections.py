"""Connections to a server in this process: slow, greedy, idle and too many clients."""

import asyncio
import fcntl
import resource
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from starlette.types import Receive, Scope, Send

from workshop.web.connections import BoundedHttpProtocol
from workshop.web.serving import Server

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
BIG = REQUEST.replace(b" / ", b" /big ")
WAITING = REQUEST.replace(b" / ", b" /waiting ")
BIG_BYTES = 1 << 25
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[bytes], Awaitable[Streams]]


class Application:
    """Responds immediately, or with 32 MiB, whole or in chunks, or when the test lets it."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.waiting = self.pieces = 0

    async def __call__(self, scope: Scope, _: Receive, send: Send) -> None:
        if scope["path"] == "/waiting":
            self.waiting += 1
            await self.go_on.wait()
        size = BIG_BYTES if scope["path"] in ("/big", "/pieces") else 2
        headers = [(b"content-length", b"%d" % size)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        while scope["path"] == "/pieces" and size:
            size -= 1 << 16
            self.pieces += 1
            piece = b"x" * (1 << 16)
            await send({"type": "http.response.body", "body": piece, "more_body": bool(size)})
        if size:
            await send({"type": "http.response.body", "body": b"x" * size})


@asynccontextmanager
async def served(
    app: Application, most: int = 100, least_file: int = 0
) -> AsyncIterator[tuple[Server, Connect]]:
    """Serve for the duration of the block; yields a function that connects and sends bytes.

    The file descriptor of the listening socket is at least `least_file`.
    """
    with socket.create_server(("127.0.0.1", 0)) as opened:
        number = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, least_file)
    with socket.socket(fileno=number) as listener:
        server = Server(app, most)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        writers: list[asyncio.StreamWriter] = []

        async def connect(sent: bytes) -> Streams:
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            writer.write(sent)
            writers.append(writer)
            return reader, writer

        try:
            async with asyncio.timeout(30):
                yield server, connect
        finally:
            for writer in writers:
                writer.transport.abort()
            server.should_exit = True
            await serving


async def status(reader: asyncio.StreamReader) -> int:
    """Read one response including its body; return its status."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
    await reader.readexactly(length)
    return int(head.split()[1])


async def is_cut(reader: asyncio.StreamReader) -> bool:
    """Read until the connection ends; return whether a big body was cut off."""
    try:
        return len(await reader.read(-1)) < BIG_BYTES
    except ConnectionError:
        return True


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    while not condition():
        await asyncio.sleep(0.005)


def set_limit(monkeypatch: pytest.MonkeyPatch, name: str, value: float) -> None:
    monkeypatch.setattr(f"workshop.web.connections.{name}", value)


def test_a_connection_serves_one_request_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limit(monkeypatch, "HEAD_SECONDS", 0.2)

    async def check() -> None:
        async with served(Application()) as (_, connect):
            reader, writer = await connect(REQUEST + BIG)
            assert [await status(reader), await status(reader)] == [200, 200]
            # An idle connection is not cut off by the timeout for heads.
            await asyncio.sleep(0.3)
            writer.write(REQUEST)
            assert await status(reader) == 200
            writer.write(REQUEST[:-2])
            assert await status(reader) == 408

    asyncio.run(check())


@pytest.mark.parametrize(
    ("sent", "refused"),
    [
        (b"this is no HTTP\r\n\r\n", 400),
        (b"", 408),
        (REQUEST[:-2], 408),
        (REQUEST[:-2] + b"X: " + b"x" * (300 - len(REQUEST) - 1), 408),
        (REQUEST[:-2] + b"X: " + b"x" * (300 - len(REQUEST)), 431),
    ],
)
def test_invalid_slow_and_large_heads_are_refused(
    monkeypatch: pytest.MonkeyPatch, sent: bytes, refused: int
) -> None:
    set_limit(monkeypatch, "HEAD_SECONDS", 0.1)
    set_limit(monkeypatch, "MAX_HEAD_BYTES", 300)

    async def check() -> None:
        async with served(Application()) as (_, connect):
            reader, _ = await connect(sent)
            head = (await reader.read(-1)).lower()
            assert head.startswith(b"http/1.1 %d " % refused)
            assert b"\r\nconnection: close\r\n" in head
            assert b"\r\nx-content-type-options: nosniff\r\n" in head
            assert b"retry-after" not in head
            assert b'"status":%d' % refused in head

    asyncio.run(check())


def test_the_longest_idle_connection_is_closed_first() -> None:
    async def check() -> None:
        async with served(Application(), most=2) as (_, connect):
            first, writer = await connect(b"")
            second, _ = await connect(REQUEST)
            assert await status(second) == 200
            writer.write(REQUEST)
            assert await status(first) == 200
            third, _ = await connect(REQUEST)
            assert await status(third) == 200
            assert await second.read(-1) == b""
            writer.write(REQUEST)
            assert await status(first) == 200

    asyncio.run(check())


def test_busy_connections_are_not_closed_for_new_ones() -> None:
    async def check() -> None:
        app = Application()
        async with served(app, most=2) as (_, connect):
            busy = [await connect(WAITING) for _ in range(2)]
            await until(lambda: app.waiting == 2)
            refused = await (await connect(REQUEST))[0].read(-1)
            assert refused.startswith(b"HTTP/1.1 503 ")
            assert b"\r\nretry-after: 1\r\n" in refused.lower()
            app.go_on.set()
            assert [await status(reader) for reader, _ in busy] == [200, 200]

    asyncio.run(check())


def test_client_that_does_not_read_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limit(monkeypatch, "READING_SECONDS", 0.3)

    async def check() -> None:
        async with served(Application()) as (server, connect):
            lazy, _ = await connect(BIG)
            await until(lambda: len(server._connections.unread) == 1)
            # The limit is long enough for a busy machine.
            set_limit(monkeypatch, "READING_SECONDS", 30)
            keen, _ = await connect(BIG)
            assert await status(keen) == 200
            await until(lambda: len(server.server_state.connections) == 1)
            assert not server._connections.unread
            assert await is_cut(lazy)
            # Bytes that were read no longer count against the connection.
            (connection,) = server.server_state.connections
            assert isinstance(connection, BoundedHttpProtocol)
            assert connection._reading_timer is not None and connection._reading_timer.cancelled()

    asyncio.run(check())


def test_a_stream_waits_for_its_reader() -> None:
    async def check() -> None:
        app = Application()
        async with served(app) as (server, connect):
            reader, _ = await connect(REQUEST.replace(b" / ", b" /pieces "))
            await until(lambda: len(server._connections.unread) == 1)
            made = app.pieces
            await asyncio.sleep(0.05)
            assert app.pieces == made < BIG_BYTES >> 16
            assert await status(reader) == 200
            assert app.pieces == BIG_BYTES >> 16

    asyncio.run(check())


def test_too_many_unread_bytes_close_the_oldest_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_limit(monkeypatch, "MAX_UNREAD_BYTES", BIG_BYTES)

    async def check() -> None:
        async with served(Application()) as (server, connect):
            first, _ = await connect(BIG)
            await until(lambda: len(server._connections.unread) == 1)
            second, _ = await connect(BIG)
            assert await status(second) == 200
            assert await is_cut(first)
            assert not server._connections.unread

    asyncio.run(check())


def test_unread_bytes_are_limited_over_all_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The kernel buffers part of each response: three exceed the limit, two do not.
    set_limit(monkeypatch, "MAX_UNREAD_BYTES", 2 * BIG_BYTES)

    async def check() -> None:
        async with served(Application()) as (server, connect):
            unread = server._connections.unread

            async def leave_unread() -> asyncio.StreamReader:
                latest = [*unread][-1:]
                reader, _ = await connect(BIG)
                await until(lambda: [*unread][-1:] != latest)
                assert sum(unread.values()) <= 2 * BIG_BYTES
                return reader

            readers = [await leave_unread() for _ in range(4)]
            assert len(unread) == 2
            assert [await is_cut(reader) for reader in readers[:2]] == [True, True]
            assert [await status(reader) for reader in readers[2:]] == [200, 200]

    asyncio.run(check())


def test_shutdown_finishes_running_and_arriving_requests() -> None:
    async def check() -> None:
        app = Application()
        async with served(app) as (server, connect):
            busy, _ = await connect(WAITING)
            idle, writer = await connect(REQUEST)
            assert await status(idle) == 200
            await until(lambda: bool(app.waiting))
            server.should_exit = True
            await until(lambda: server._connections.draining)
            writer.write(REQUEST)
            late = await idle.read(-1)
            assert late.startswith(b"HTTP/1.1 200 ")
            assert b"\r\nconnection: close\r\n" in late.lower()
            # Responses should not reveal the server software and its version.
            assert b"\r\nserver:" not in late.lower()
            app.go_on.set()
            assert (await busy.read(-1)).startswith(b"HTTP/1.1 200 ")

    asyncio.run(check())


def test_shutdown_works_with_large_file_descriptors() -> None:
    # select(2) only supports descriptors below 1024.
    files, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 1_200:
        pytest.skip("this process may not open so many files")

    async def check() -> None:
        async with served(Application(), least_file=1_100) as (_, connect):
            reader, _ = await connect(REQUEST)
            assert await status(reader) == 200

    resource.setrlimit(resource.RLIMIT_NOFILE, (max(files, 1_200), hard))
    try:
        asyncio.run(check())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))


@pytest.mark.parametrize(
    ("files", "wanted", "connections"),
    # 56 files are reserved, and an eighth more connections than the limit may be open.
    [(1024, 2048, 860), (1024, 100, 100), (40, 100, 4), (resource.RLIM_INFINITY, 9999, 9999)],
)
def test_connections_are_limited_by_open_files(
    monkeypatch: pytest.MonkeyPatch, files: int, wanted: int, connections: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    server = Server(Application(), wanted)
    assert server.server_state.max_connections == connections  # type: ignore[attr-defined]
    assert server.config.backlog == max(4, connections // 8)
