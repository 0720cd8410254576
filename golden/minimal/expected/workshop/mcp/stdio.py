"""MCP over standard input and output, for clients that start the server themselves.

The first requests of clients are answered before the index and the search code are loaded, which
takes several times as long. Calls run in threads; a cancelled call gets no response.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

from ..errors import ServerError
from ..settings import settings
from .messages import INVALID_REQUEST, MessageError, internal_error, parse_message, to_bytes
from .session import INSTANT, Result, Session

if TYPE_CHECKING:
    from ..retrieval.results import SearchResponse

FINISHING_SECONDS = 10.0  # Maximum wait for running requests after standard input has ended
LISTING_SECONDS = 0.2  # Maximum wait for a client to list the tools before loading begins
MAX_CALLS = 40  # Concurrent calls; further ones are not read from the input.
MAX_MESSAGE_BYTES = 1_000_000  # Parsing a message takes several times as much memory.


def serve_stdio(load: "Callable[[], Callable[..., SearchResponse]]", version: str) -> None:
    """Serve until standard input ends; other output goes to standard error.

    `load` opens the index and returns the search function. Raises what `load` raises, ServerError
    if standard input or output is closed, and ConfigurationError.
    """
    if sys.stdin is None or sys.stdout is None:
        raise ServerError(
            "standard input or output is closed; let an MCP client start this command"
        )
    settings()
    output = os.dup(1)
    os.dup2(2 if sys.stderr else os.open(os.devnull, os.O_WRONLY), 1)
    # An interrupt may end the process at once, because nothing needs to be cleaned up.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    connection = Connection(Session(version), 0, output)
    reader = threading.Thread(target=connection.read, name="input", daemon=True)
    reader.start()
    # `load` imports modules, which would delay the first responses, for which a client waits.
    connection.begun.wait()
    connection.listed.wait(LISTING_SECONDS)
    connection.session.search = load()
    connection.ready.set()
    reader.join()
    connection.finish()


class _Request:
    """A request being answered; compared by identity, since a client may reuse its id."""

    def __init__(self, identifier: str | int) -> None:
        self.id = identifier


class Connection:
    """The streams of messages, and the requests being handled.

    `begun` is set once a message was handled, and `listed` once the tools were listed or a tool is
    called; the end of input sets both. Calls wait until `ready` is set.
    """

    def __init__(self, session: Session, source: int, output: int) -> None:
        self.session = session
        self.begun, self.listed, self.ready = (threading.Event() for _ in range(3))
        self._source, self._output = source, output
        self._running: set[_Request] = set()
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._calls = threading.BoundedSemaphore(MAX_CALLS)

    def read(self) -> None:
        """Handle messages until input ends."""
        try:
            with open(self._source, "rb", closefd=False) as file:
                while line := file.readline(MAX_MESSAGE_BYTES + 1):
                    if len(line) > MAX_MESSAGE_BYTES:
                        self._refuse_long(line, file)
                    elif line.strip():
                        self._receive(line)
                    self.begun.set()
        finally:
            self.begun.set()
            self.listed.set()

    def finish(self) -> None:
        """Wait until all requests are answered or cancelled, at most FINISHING_SECONDS."""
        with self._changed:
            self._changed.wait_for(lambda: not self._running, FINISHING_SECONDS)

    def _refuse_long(self, line: bytes, file: BinaryIO) -> None:
        """Skip the rest of a line, and reply without an id, since the line is not parsed."""
        while line and not line.endswith(b"\n"):
            line = file.readline(MAX_MESSAGE_BYTES)
        said = f"A message may have at most {MAX_MESSAGE_BYTES} bytes."
        self._write(MessageError(INVALID_REQUEST, said).reply)

    def _receive(self, line: bytes) -> None:
        try:
            message = parse_message(line)
            _check_message(message)
        except MessageError as error:
            self._write(error.reply)
            return
        match message:
            case {"method": "notifications/cancelled", "params": {"requestId": cancelled}}:
                self._cancel(cancelled)
            case {"method": str(method), "id": identifier}:
                self._begin(_Request(identifier), method, message.get("params"))

    def _begin(self, request: _Request, method: str, params: dict[str, Any] | None) -> None:
        try:
            answer = self.session.prepare(method, params)
        except MessageError as error:
            error.request_id = request.id
            self._write(error.reply)
            return
        with self._changed:
            self._running.add(request)
        if method in INSTANT:
            self._answer(request, answer)
            if method == "tools/list":
                self.listed.set()
            return
        self.listed.set()
        self._calls.acquire()
        threading.Thread(target=self._call, args=(request, answer), daemon=True).start()

    def _call(self, request: _Request, answer: Callable[[], Result]) -> None:
        try:
            self.ready.wait()
            self._answer(request, answer)
        finally:
            self._calls.release()

    def _answer(self, request: _Request, answer: Callable[[], Result]) -> None:
        try:
            reply = to_bytes({"jsonrpc": "2.0", "id": request.id, "result": answer()})
        except Exception as error:
            told = error if isinstance(error, MessageError) else internal_error(error)
            told.request_id = request.id
            reply = told.reply
        with self._changed:
            is_wanted = request in self._running
        if is_wanted:
            self._write(reply)
        with self._changed:
            self._running.discard(request)
            self._changed.notify_all()

    def _cancel(self, identifier: object) -> None:
        # Some clients cancel a numeric id as a string.
        with self._changed:
            gone = {each for each in self._running if str(each.id) == str(identifier)}
            self._running -= gone
            self._changed.notify_all()

    def _write(self, reply: bytes) -> None:
        line = reply + b"\n"
        try:
            with self._writing:
                while line:
                    line = line[os.write(self._output, line) :]
        except BrokenPipeError:
            # The client is gone, and the thread that reads input cannot be interrupted.
            os._exit(0)


def _check_message(message: dict[str, Any]) -> None:
    """Raise MessageError for a message that has an id, but is neither a request nor a response."""
    is_answer = "method" not in message and message.keys() & {"result", "error"}
    is_request = (
        message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method"), str)
        and isinstance(message.get("params"), dict | None)
    )
    if "id" in message and not is_answer and not is_request:
        raise MessageError(INVALID_REQUEST, "Send a JSON-RPC 2.0 request.", message["id"])
