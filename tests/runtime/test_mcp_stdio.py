"""Messages over a pair of files: concurrent and cancelled calls, and the end of input."""

import json
import os
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from foundry.runtime.mcp.messages import MessageError
from foundry.runtime.mcp.session import Result, Session
from foundry.runtime.mcp.stdio import MAX_CALLS, MAX_MESSAGE_BYTES, Connection

WAIT = 60


class SlowSession(Session):
    """Answers a call when the test releases it."""

    def __init__(self) -> None:
        super().__init__("1")
        self.begun: dict[str, threading.Event] = {}
        self.let_go: dict[str, threading.Event] = {}

    def prepare(self, method: str, params: Any) -> Callable[[], Result]:
        if method == "ping":
            return lambda: {}
        name = params["name"]
        begun = self.begun.setdefault(name, threading.Event())
        let_go = self.let_go.setdefault(name, threading.Event())

        def answer() -> Result:
            begun.set()
            assert let_go.wait(WAIT)
            if name == "broken":
                raise OSError("/etc/secret")
            if name == "refused":
                raise MessageError(-32602, "Unknown tool")
            return {"called": name}

        return answer


class Client:
    """The other end of a connection."""

    def __init__(self) -> None:
        self.source, self.input = os.pipe()
        answers, self.output = os.pipe()
        self.answers = os.fdopen(answers, "rb")
        self.session = SlowSession()
        self.connection = Connection(self.session, self.source, self.output)
        self.thread = threading.Thread(target=self.connection.read)
        self.thread.start()

    def send(self, method: str, number: object = None, **params: object) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        message |= {} if number is None else {"id": number}
        os.write(self.input, json.dumps(message).encode() + b"\n")

    def call(self, name: str, number: object) -> None:
        self.send("tools/call", number, name=name)

    def receive(self) -> Any:
        return json.loads(self.answers.readline())

    def until_begun(self, name: str) -> None:
        # The reading thread creates the event.
        while name not in self.session.begun:
            pass
        assert self.session.begun[name].wait(WAIT)

    def end(self) -> list[bytes]:
        """End the input, and return the answers that were not received."""
        os.close(self.input)
        self.thread.join(WAIT)
        self.connection.finish()
        os.close(self.output)
        os.close(self.source)
        with self.answers:
            return self.answers.readlines()


@pytest.fixture
def client() -> Iterator[Client]:
    client = Client()
    yield client
    for each in client.session.let_go.values():
        each.set()
    client.connection.ready.set()
    assert client.end() == []


def test_instant_answers_come_before_the_index_is_open(client: Client) -> None:
    client.call("search", 1)
    client.send("ping", 2)
    assert client.receive() == {"jsonrpc": "2.0", "id": 2, "result": {}}
    assert client.connection.begun.is_set()
    assert not client.session.begun["search"].is_set()
    client.connection.ready.set()
    client.until_begun("search")
    client.session.let_go["search"].set()
    assert client.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"called": "search"}}


def test_answers_are_single_lines(client: Client) -> None:
    """Some clients split at other line ends too: Node's `readline` does at U+2028 and U+2029."""
    client.send("ping", "a\x85b\u2028c\u2029d")
    line = client.answers.readline().decode()
    assert line.splitlines() == [line.removesuffix("\n")]
    assert json.loads(line)["id"] == "a\x85b\u2028c\u2029d"


def test_a_slow_call_does_not_delay_others(client: Client) -> None:
    client.connection.ready.set()
    for number, name in enumerate(("slow", "fast")):
        client.call(name, number)
        client.until_begun(name)
    for name in ("fast", "slow"):
        client.session.let_go[name].set()
        assert client.receive()["result"] == {"called": name}


@pytest.mark.parametrize(("number", "cancelled"), [(7, 7), (7, "7"), ("a", "a")])
def test_a_cancelled_call_is_not_answered(
    client: Client, number: object, cancelled: object
) -> None:
    client.connection.ready.set()
    client.call("slow", number)
    client.until_begun("slow")
    client.send("notifications/cancelled", requestId=cancelled)
    client.send("ping", 1)
    assert client.receive()["id"] == 1
    # The fixture's end finds no further response.
    client.session.let_go["slow"].set()


def test_messages_of_exceptions_are_not_sent(client: Client) -> None:
    client.connection.ready.set()
    for name, error in (
        ("broken", {"code": -32603, "message": "The server failed."}),
        ("refused", {"code": -32602, "message": "Unknown tool"}),
    ):
        client.call(name, name)
        client.until_begun(name)
        client.session.let_go[name].set()
        assert client.receive() == {"jsonrpc": "2.0", "id": name, "error": error}


def test_calls_beyond_the_limit_wait_and_are_all_answered(client: Client) -> None:
    client.connection.ready.set()
    for number in range(MAX_CALLS + 2):
        client.call("many", number)
    client.until_begun("many")
    client.session.let_go["many"].set()
    numbers = {client.receive()["id"] for _ in range(MAX_CALLS + 2)}
    assert numbers == set(range(MAX_CALLS + 2))


@pytest.mark.parametrize(
    "message", [{}, {"method": 5}, {"jsonrpc": "1.0", "method": "ping"}, {"params": []}]
)
def test_invalid_requests_get_an_error_response(client: Client, message: dict[str, object]) -> None:
    for more in ({"id": 3}, {}, {"id": 4}):
        os.write(client.input, json.dumps(message | more).encode() + b"\n")
    for number in (3, 4):
        answer = client.receive()
        assert (answer["id"], answer["error"]["code"]) == (number, -32600)


def test_a_long_message_gets_an_error_and_is_not_kept_in_memory(client: Client) -> None:
    tracemalloc.start()
    try:
        long = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}).encode()
        with open(client.input, "wb", closefd=False) as file:
            file.write(long.ljust(MAX_MESSAGE_BYTES - 1) + b"\n")
            assert client.receive()["id"] == 1
            for _ in range(20):
                file.write(b"x" * MAX_MESSAGE_BYTES)
            file.write(b"\n")
        assert client.receive() == {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": -32600, "message": "A message may have at most 1000000 bytes."},
        }
        client.send("ping", 2)
        assert client.receive()["id"] == 2
        assert tracemalloc.get_traced_memory()[1] < 10 * MAX_MESSAGE_BYTES
    finally:
        tracemalloc.stop()
