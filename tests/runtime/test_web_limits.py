"""Which requests run, wait or are rejected: slots alone, then real servers under load."""

import asyncio
import itertools
import resource
from collections.abc import Iterator

import pytest
from raw_http import HEALTH, SEARCH, Server, get, read_all, statuses
from systems import open_many_files
from waiting import wait_until

from foundry.runtime.web.slots import Slots

CLOSE = b"\r\nConnection: close\r\n\r\n"


def chat(path: str) -> bytes:
    return get(path, method="POST")


def test_searches_without_waiting_still_yield_to_other_tasks() -> None:
    async def check() -> None:
        slots = Slots(1)
        done = 0
        seen = []

        async def work() -> None:
            nonlocal done
            await slots.take()
            done += 1
            slots.give_back()

        tasks = [asyncio.create_task(work()) for _ in range(100)]
        while done < 100:
            seen.append(done)
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        # Other tasks never waited for more than two searches.
        assert max(b - a for a, b in itertools.pairwise(seen)) <= 2

    asyncio.run(check())


def test_cancelled_waiters_free_their_slot() -> None:
    async def check() -> None:
        slots = Slots(1)
        await slots.take()
        patient, impatient = (asyncio.create_task(slots.take()) for _ in range(2))
        await asyncio.sleep(0)
        patient.cancel()
        slots.give_back()
        await asyncio.sleep(0)
        # The task is cancelled just as its turn comes.
        impatient.cancel()
        await asyncio.gather(patient, impatient, return_exceptions=True)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        # The slot is free, so it is taken immediately.
        await asyncio.wait_for(slots.take(), 60)

    asyncio.run(check())


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server(reading_seconds=1.0, searches=2, chats=1, connections=1500)
    yield server
    server.stop()
    assert server.wait() == 0


def test_overload_is_refused_with_retry_after(server: Server) -> None:
    # 200 requests of 20 ms are four seconds of work, but a request may wait for only one second.
    clients = [server.connect() for _ in range(200)]
    with server.suspended():
        for client in clients:
            client.sendall(get("/busy"))
    assert statuses(server.exchange(HEALTH[:-2] + b"Connection: close\r\n\r\n")) == [200]
    found = [read_all(client) for client in clients]
    for client in clients:
        client.close()
    codes = [statuses(answer)[0] for answer in found]
    assert set(codes) == {200, 503}
    assert codes.count(200) <= 150
    assert all(b"\r\nretry-after: 1\r\n" in answer for answer in found if b" 503 " in answer[:20])
    # The server recovers immediately.
    assert statuses(server.exchange(get("/busy"))) == [200]


def test_a_stream_holds_its_slot_until_it_ends(server: Server) -> None:
    with server.connect() as stream:
        stream.sendall(chat("/chat"))
        assert stream.recv(100).startswith(b"HTTP/1.1 200")
        assert statuses(server.exchange(chat("/chat?seconds=0"))) == [503]
        # Other kinds of work have separate slots.
        assert statuses(server.exchange(get("/busy"))) == [200]
        assert statuses(server.exchange(get("/end"))) == [200]
        assert read_all(stream).endswith(b"0\r\n\r\n")
    assert statuses(server.exchange(chat("/chat?seconds=0"))) == [200]


def test_a_client_that_disconnects_frees_its_slot(server: Server) -> None:
    with server.connect() as stream:
        stream.sendall(chat("/chat"))
        assert stream.recv(100)
    wait_until(lambda: statuses(server.exchange(chat("/chat?seconds=0"))) == [200])


def test_an_unread_stream_is_closed_and_frees_its_slot(server: Server) -> None:
    with server.connect() as stream:
        stream.sendall(chat("/chat?size=100000"))
        wait_until(lambda: statuses(server.exchange(chat("/chat?seconds=0"))) == [200])
        assert not read_all(stream).endswith(b"0\r\n\r\n")


@pytest.fixture
def many_files() -> Iterator[None]:
    """Raise this process's limit to 2,000 open files, twice the usual default."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_many_files(2000)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_1000_idle_connections_do_not_starve_health(server: Server, many_files: None) -> None:
    idle = [server.connect() for _ in range(1000)]
    assert statuses(server.exchange(HEALTH[:-2] + b"Connection: close\r\n\r\n")) == [200]
    for connection in idle:
        connection.close()


def test_the_server_runs_with_few_open_files() -> None:
    server = Server(prefix=("sh", "-c", 'ulimit -n 64; exec "$@"', "sh"), connections=2000)
    idle = [server.connect() for _ in range(100)]
    for _ in range(20):
        assert statuses(server.exchange(HEALTH[:-2] + b"Connection: close\r\n\r\n")) == [200]
    for connection in idle:
        connection.close()
    server.stop()
    assert server.wait() == 0
    assert not [line for line in server.log if line["level"] == "error"]


def test_slow_readers_do_not_affect_search() -> None:
    server = Server(searches=2, streams=8)
    slow = [server.connect() for _ in range(40)]
    try:
        for number, connection in enumerate(slow):
            connection.sendall(
                get(("/stream", "/large?size=6000000", "/chat?size=100000")[number % 3])
            )
        # Each client reads the head and a part of the body, and then nothing more.
        heads = [connection.recv(31_000)[:12] for connection in slow]
        for _ in range(10):
            assert statuses(server.exchange(SEARCH.replace(b"\r\n\r\n", CLOSE, 1))) == [200]
            assert statuses(server.exchange(get("/healthz"))) == [200]
    finally:
        for connection in slow:
            connection.close()
    streams = [head for number, head in enumerate(heads) if number % 3 != 1]
    # The other streams have waited for a second.
    assert streams.count(b"HTTP/1.1 200") == 8
    assert streams.count(b"HTTP/1.1 503") == len(streams) - 8
    assert statuses(server.exchange(get("/stream?pieces=1"))) == [200]
    server.stop()
    assert server.wait() == 0
