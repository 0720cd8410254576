"""A language model's endpoint on loopback: real HTTP, with scripted good and bad behaviour."""

import json
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ports import free_port
from waiting import wait_until


class ClientGoneError(Exception):
    """The client has closed the connection."""


@dataclass
class Call:
    """A received request, and how it ended."""

    path: str
    headers: dict[str, str]
    text: str
    body: dict[str, Any]
    pieces: int = 0
    gone: threading.Event = field(default_factory=threading.Event)
    """Set when the client closed the connection before the reply had ended."""

    @property
    def is_condensing(self) -> bool:
        """Whether it asks to rewrite the last question so that it makes sense by itself."""
        return "Write the last question" in self.body["messages"][0]["content"]


class Reply:
    """Sends the script's response; every method raises ClientGoneError if the client has left."""

    def __init__(self, handler: BaseHTTPRequestHandler, call: Call) -> None:
        self._handler = handler
        self._call = call

    def refuse(self, status: int, body: str = "{}", **headers: str) -> None:
        """Send a complete response that is not a stream."""
        self._head(status, {"Content-Length": str(len(body)), **headers})
        self.raw(body.encode())

    def begin(self, content_type: str = "text/event-stream", **headers: str) -> None:
        """Send the head of a stream."""
        self._head(200, {"Content-Type": content_type, "Connection": "close", **headers})

    def text(self, *pieces: str) -> None:
        """Send pieces of the answer."""
        for piece in pieces:
            self._call.pieces += 1
            self.event({"choices": [{"index": 0, "delta": {"content": piece}}]})

    def finish(self, reason: str = "stop", usage: tuple[int, int] | None = (11, 7)) -> None:
        """Send the end of the answer."""
        self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        if usage:
            counts = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
            self.event({"choices": [], "usage": counts})
        self.raw(b"data: [DONE]\n\n")

    def event(self, data: dict[str, Any]) -> None:
        """Send one event."""
        self.raw(f"data: {json.dumps(data)}\n\n".encode())

    def raw(self, content: bytes) -> None:
        """Send arbitrary bytes."""
        self.wait(0)
        try:
            self._handler.wfile.write(content)
            self._handler.wfile.flush()
        except OSError:
            raise ClientGoneError from None

    def wait(self, seconds: float) -> None:
        """Do nothing for a while."""
        connection, poll = self._handler.connection, select.poll()
        poll.register(connection, select.POLLIN)
        try:
            is_closed = bool(poll.poll(1000 * seconds)) and not connection.recv(1, socket.MSG_PEEK)
        except OSError:
            is_closed = True
        if is_closed:
            raise ClientGoneError

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self._handler.send_response(status)
        for name, value in headers.items():
            self._handler.send_header(name.replace("_", "-"), value)
        self._handler.end_headers()


Script = Callable[[Call, Reply], None]


def answer(*pieces: str, condensed: str = "", pause: float = 0.0) -> Script:
    """Return the script of a well-behaved model with this answer."""

    def script(call: Call, reply: Reply) -> None:
        reply.begin()
        for piece in [condensed] if call.is_condensing else pieces:
            reply.text(piece)
            reply.wait(pause)
        reply.finish()

    return script


@dataclass
class LanguageModel:
    """The endpoint; `script` makes its next responses, `calls` are the received requests."""

    script: Script
    base_url: str = ""
    calls: list[Call] = field(default_factory=list)

    def wait_for_calls(self, count: int) -> None:
        """Wait until this many calls have arrived; fails after a while."""
        wait_until(lambda: len(self.calls) >= count)


@contextmanager
def language_model(script: Script | None = None) -> Iterator[LanguageModel]:
    """Run an endpoint."""
    model = LanguageModel(script or answer("Fine. [1]"))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            call = Call(self.path, headers, text, json.loads(text))
            model.calls.append(call)
            try:
                model.script(call, Reply(self, call))
            except ClientGoneError:
                call.gone.set()
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

    with Server(("127.0.0.1", free_port()), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        model.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()
