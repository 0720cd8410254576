"""Which addresses may be served, and the messages of a failed start."""

import os
import signal
import socket
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import uvicorn
from fastapi import FastAPI

from workshop.errors import ConfigurationError, IndexUnusableError, ServerError
from workshop.settings import Limits
from workshop.web.serving import serve

SERVING = "workshop.web.serving"


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    """The addresses on which a server was started."""
    addresses: list[tuple[str, int]] = []

    def run(_: uvicorn.Server, sockets: list[socket.socket]) -> None:
        # Otherwise the network would delay every second response on a connection.
        assert all(one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for one in sockets)
        addresses.extend(listener.getsockname()[:2] for listener in sockets)

    monkeypatch.setattr(uvicorn.Server, "run", run)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    counts = SimpleNamespace(document_count=1, chunk_count=2, version="v1")
    monkeypatch.setattr(f"{SERVING}.load", lambda **_: counts)
    known = SimpleNamespace(current=lambda: counts, verify=lambda: None)
    monkeypatch.setattr(f"{SERVING}.served", known)
    settings = SimpleNamespace(title="Test", limits=Limits(connections=100, searches=8, streams=8))
    monkeypatch.setattr(f"{SERVING}.settings", lambda: settings)
    yield addresses


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.8.8.8"])
def test_loopback_needs_no_token(started: list[tuple[str, int]], host: str) -> None:
    serve(FastAPI, host, 0)
    assert started[0][0].startswith("127.")


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "0", "::", "192.0.2.1", "2001:db8::1", "::ffff:0.0.0.0"]
)
def test_other_addresses_need_a_token(
    started: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr(f"{SERVING}.load", lambda **_: pytest.fail("opened the index"))
    with pytest.raises(ConfigurationError) as caught:
        serve(FastAPI, host, 0)
    assert caught.value.hint is not None
    assert "proxy" in caught.value.hint and "--insecure-no-auth" in caught.value.hint
    with pytest.raises(ConfigurationError) as caught:
        serve(FastAPI, host, 0, tokens_hint="set API_TOKENS")
    assert caught.value.hint is not None and caught.value.hint.startswith("set API_TOKENS. To ")
    assert not started


def test_signals_wait_until_the_server_has_handlers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held_back: list[set[int]] = []

    def write(_descriptor: int, line: bytes) -> int:
        held_back.append(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
        return len(line)

    monkeypatch.setattr(os, "write", write)
    serve(FastAPI, "127.0.0.1", 0)
    stops = {signal.SIGINT, signal.SIGTERM}
    assert stops <= held_back[0]
    assert stops.isdisjoint(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def test_name_of_another_address_needs_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.7", 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(ConfigurationError):
        serve(FastAPI, "server.lan", 0)


def test_ipv4_is_preferred_among_addresses_of_a_name(
    started: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", 0, 0, 0))
    older = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [newer, older])
    serve(FastAPI, "localhost", 0)
    assert [address for address, _ in started] == ["127.0.0.1"]


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1"])
def test_a_token_or_the_flag_allows_any_address(started: list[tuple[str, int]], host: str) -> None:
    serve(FastAPI, host, 0, insecure_no_auth=True)
    assert started.pop()[0] == host
    serve(FastAPI, host, 0, has_tokens=True)
    assert started.pop()[0] == host
    assert not started
    with pytest.raises(ConfigurationError, match="--insecure-no-auth does nothing"):
        serve(FastAPI, host, 0, has_tokens=True, insecure_no_auth=True)


@pytest.mark.parametrize("port", [-1, 65536, 10**9])
def test_invalid_port_is_refused(port: int) -> None:
    with pytest.raises(ConfigurationError, match=f"port {port} does not exist"):
        serve(FastAPI, "127.0.0.1", port)


@pytest.mark.parametrize("is_named", [True, False])
def test_port_in_use(
    started: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch, is_named: bool
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        # Without a port, the one in the settings is used.
        monkeypatch.setattr(f"{SERVING}.settings", lambda: SimpleNamespace(port=port))
        with pytest.raises(ServerError, match=f"port {port}: Address already in use") as caught:
            serve(FastAPI, "127.0.0.1", port if is_named else None)
    assert caught.value.hint is not None and "--port" in caught.value.hint


@pytest.mark.parametrize("host", ["", "no such host", "host.invalid", "a" * 300, "1.2.3.4.5"])
def test_unknown_host_is_refused(host: str) -> None:
    with pytest.raises(ServerError, match="is not an address"):
        serve(FastAPI, host, 0)


def test_nothing_is_bound_for_an_unusable_index(
    started: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(*, verify: bool) -> None:
        raise IndexUnusableError("index: damaged", hint="build it again")

    monkeypatch.setattr(f"{SERVING}.load", load)
    with pytest.raises(IndexUnusableError):
        serve(FastAPI, "127.0.0.1", 0)
    assert not started
