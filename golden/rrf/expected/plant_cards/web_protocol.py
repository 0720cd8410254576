"""Uvicorn's HTTP protocol, with limits for request heads and for clients that do not read.

Uvicorn waits for ever for a head that arrives byte by byte and for a client to read its answer,
and neither it nor its parser limits how large a head may grow. Middleware cannot help: it runs
once a head is complete, and until an answer is written.
"""

import asyncio
from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .web_guard import SECURITY_HEADERS
from .web_problems import problem_response

HEAD_SECONDS = 10.0
READING_SECONDS = 30.0
"""After this time an answer must have left for the client."""

MAX_HEAD_BYTES = 65_536


class BoundedHttpProtocol(HttpToolsProtocol):
    """Closes connections on which no head arrives within time and size, or no answer is read."""

    _head_deadline: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first request."""
        super().connection_made(transport)
        self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse; refuse a head that is still incomplete and already too large."""
        if self._head_deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._start_clock()
        super().data_received(data)
        if self._head_deadline is not None and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._refuse(431, f"A request head may have {MAX_HEAD_BYTES} bytes.")

    def on_headers_complete(self) -> None:
        """Stop the clock and hand the request on."""
        self._stop_clock()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Give a client that reads slowly its time."""
        super().on_response_complete()
        if self.transport.get_write_buffer_size():
            self.loop.call_later(READING_SECONDS, self._drop_unread)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse(400, msg)

    def _start_clock(self) -> None:
        self._head_bytes = 0
        self._head_deadline = self.loop.call_later(
            HEAD_SECONDS, self._refuse, 408, f"No complete request in {HEAD_SECONDS:.0f} s."
        )

    def _stop_clock(self) -> None:
        if self._head_deadline is not None:
            self._head_deadline.cancel()
            self._head_deadline = None

    def _drop_unread(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def _refuse(self, status: int, detail: str) -> None:
        self._stop_clock()
        if self.transport.is_closing():
            return
        response = problem_response(status, detail, headers={"Connection": "close"})
        fields = b"".join(
            b"%b: %b\r\n" % field for field in (*response.raw_headers, *SECURITY_HEADERS)
        )
        phrase = HTTPStatus(status).phrase.encode()
        self.transport.write(
            b"HTTP/1.1 %d %b\r\n%b\r\n%b" % (status, phrase, fields, bytes(response.body))
        )
        self.transport.close()
