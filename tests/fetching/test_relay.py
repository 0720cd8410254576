"""The relay for programs that open their own connections, used as such a program uses it."""

import socket
import threading
from contextlib import suppress

import pytest
from waiting import wait_until

from foundry.fetching.addresses import Policy
from foundry.fetching.relay import Relay

GREETING = bytes([5, 1, 0])
ACCEPTED = bytes([5, 0])
SECONDS = 30


def ask(relay: Relay, greeting: bytes, request: bytes = b"") -> tuple[bytes, bytes]:
    """Return the replies to a greeting and to a request; empty ones if it hangs up."""
    with socket.create_connection(("127.0.0.1", relay.port), SECONDS) as client:
        accepted = answer = b""
        # Unread data turns a hang-up into a reset.
        with suppress(ConnectionResetError):
            client.sendall(greeting)
            if accepted := client.recv(2):
                client.sendall(request)
                answer = client.recv(10)
        return accepted, answer


def connect(port: int, command: int = 1) -> bytes:
    """Return a request to connect to a port of this machine."""
    return bytes([5, command, 0, 1, 127, 0, 0, 1]) + port.to_bytes(2)


@pytest.fixture
def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def test_a_private_address_is_not_allowed(free_port: int) -> None:
    with Relay(Policy()) as relay:
        accepted, answer = ask(relay, GREETING, connect(free_port))
        assert (accepted, answer) == (ACCEPTED, bytes([5, 2, 0, 1]) + bytes(6))
        assert [failure.reason for failure in relay.failures] == ["private address"]


def test_unreachable_hosts_have_another_reply_than_refused_ones(free_port: int) -> None:
    with Relay(Policy.parse([f"127.0.0.1:{free_port}"])) as relay:
        assert ask(relay, GREETING, connect(free_port))[1] == bytes([5, 4, 0, 1]) + bytes(6)
        assert [failure.reason for failure in relay.failures] == ["cannot be reached"]


def test_all_data_and_its_end_are_relayed() -> None:
    said = bytes(range(256)) * 1_000
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with (
            Relay(Policy.parse([f"127.0.0.1:{port}"])) as relay,
            socket.create_connection(("127.0.0.1", relay.port), SECONDS) as client,
        ):
            client.sendall(GREETING + connect(port))
            with client.makefile("rb") as answer:
                assert answer.read(12) == ACCEPTED + bytes([5, 0, 0, 1]) + bytes(6)
                server, _ = listener.accept()
                with server, server.makefile("rb") as heard:
                    server.settimeout(SECONDS)
                    client.sendall(said)
                    client.shutdown(socket.SHUT_WR)
                    assert heard.read() == said
                    server.sendall(b"bye")
                assert answer.read() == b"bye"


@pytest.mark.parametrize("greeting", [bytes([4, 1, 0]), bytes([5, 1, 2]), bytes([5, 0])])
def test_connections_with_other_protocols_or_passwords_are_closed(
    greeting: bytes, free_port: int
) -> None:
    with Relay(Policy()) as relay:
        assert ask(relay, greeting) == (b"", b"")


@pytest.mark.parametrize("command", [2, 3])
def test_only_the_connect_command_is_supported(command: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with Relay(Policy.parse([f"127.0.0.1:{port}"])) as relay:
            assert ask(relay, GREETING, connect(port, command)) == (ACCEPTED, b"")


def test_connections_with_unknown_address_types_are_closed() -> None:
    with Relay(Policy()) as relay:
        assert ask(relay, GREETING, bytes([5, 1, 0, 9, 0, 0])) == (ACCEPTED, b"")


def test_connections_with_another_protocol_version_are_closed(free_port: int) -> None:
    with Relay(Policy()) as relay:
        assert ask(relay, GREETING, b"\4" + connect(free_port)[1:]) == (ACCEPTED, b"")


def test_a_closed_relay_accepts_no_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with Relay(Policy.parse([f"127.0.0.1:{port}"])) as relay:
            client = socket.create_connection(("127.0.0.1", relay.port), SECONDS)
            client.sendall(GREETING)
            assert client.recv(2) == ACCEPTED
        with client:
            client.sendall(connect(port))
            assert client.recv(10) == b""


def test_no_thread_is_left() -> None:
    before = set(threading.enumerate())
    with Relay(Policy()):
        assert set(threading.enumerate()) - before
    wait_until(lambda: not set(threading.enumerate()) - before, seconds=SECONDS)
