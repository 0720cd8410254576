"""MCP over standard input and output, for a client that starts this server as its own process.

The SDK's own transport would drop what is still being answered when input ends, keep silent about
lines that are no messages, and hang in a thread that waits for input when it should stop.
"""

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator
from typing import Any

from ..index.errors import ServerError
from ..index.served import load
from ..retrieval.results import FindPassage
from ..retrieval.settings import settings
from ..web.citations import announce_nowhere
from ..web.loading import loading
from ..web.runner import AsyncSearch
from .http import INVALID_REQUEST, EnvelopeError, parse_message

FINISHING_SECONDS = 10.0
"""How long what is still being answered may take after input has ended."""

_READ_BYTES = 65_536
_WAITING_READS = 16


def serve_stdio(search: AsyncSearch, version: str, find_passage: FindPassage | None = None) -> None:
    """Answer until standard input ends or nobody reads standard output any more.

    Nothing but messages reaches standard output: what anything else prints goes to standard
    error. Raises IndexUnusableError, and ServerError if there is no input or output.
    """
    if sys.stdin is None or sys.stdout is None:
        raise ServerError(
            "standard input or output is closed",
            hint="a client starts this command and talks to it; see README.md",
        )
    output = os.dup(1)
    os.dup2(2 if sys.stderr else os.open(os.devnull, os.O_WRONLY), 1)

    # Imported when needed: this takes longer than everything else a server does to start.
    with loading():
        from mcp.server.stdio import stdio_server

        from .server import create_server

        load()
    announce_nowhere()
    server = create_server(search, version, find_passage)

    async def serve() -> None:
        lines: Any = _Lines(output, settings().max_body_bytes)
        async with stdio_server(stdin=lines, stdout=lines) as (messages, answers):
            await server.run(messages, answers, server.create_initialization_options())

    # There is nothing to bring to an end, and the SDK makes an error of being interrupted.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        asyncio.run(serve())
    except* BrokenPipeError:
        pass


class _Lines:
    """Standard input as an iterator of lines with one message each, and where answers are written.

    A line that is no message is answered here, and one longer than `max_bytes` is not kept.
    """

    def __init__(self, output: int, max_bytes: int) -> None:
        self._output = output
        self._max_bytes = max_bytes
        self._reads: asyncio.Queue[bytes] = asyncio.Queue(_WAITING_READS)
        self._unanswered: set[object] = set()
        self._answered = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield the messages; ends when input has ended and all of them are answered."""
        # A thread, because not every kind of input can be waited for, and a daemon, because a
        # read cannot be called off.
        reader = threading.Thread(
            target=self._read, args=(asyncio.get_running_loop(),), daemon=True
        )
        reader.start()
        async for line in self._split():
            if not line.strip():
                continue
            try:
                if len(line) > self._max_bytes:
                    raise EnvelopeError(
                        INVALID_REQUEST, f"A message may have {self._max_bytes} bytes."
                    )
                message = parse_message(line)
            except EnvelopeError as error:
                self._write(error.to_json())
                continue
            self._expect(message)
            yield line.decode()
        try:
            async with asyncio.timeout(FINISHING_SECONDS):
                while self._unanswered:
                    self._answered.clear()
                    await self._answered.wait()
        except TimeoutError:
            return

    async def write(self, line: str) -> None:
        """Write one message of the server's."""
        self._write(line.encode())
        self._unanswered.discard(json.loads(line).get("id"))
        self._answered.set()

    async def flush(self) -> None:
        """Nothing is held back."""

    def _expect(self, message: dict[str, Any]) -> None:
        match message:
            case {
                "method": "notifications/cancelled",
                "params": {"requestId": str() | int() as cancelled},
            }:
                self._unanswered.discard(cancelled)
            case {"method": _, "id": asked}:
                self._unanswered.add(asked)

    def _write(self, line: bytes) -> None:
        rest = memoryview(line.rstrip(b"\n") + b"\n")
        while rest:
            rest = rest[os.write(self._output, rest) :]

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            while True:
                read = os.read(0, _READ_BYTES)
                asyncio.run_coroutine_threadsafe(self._reads.put(read), loop).result()
                if not read:
                    return
        except RuntimeError:
            # The event loop has ended, and nobody listens any more.
            return

    async def _split(self) -> AsyncIterator[bytes]:
        line = bytearray()
        while read := await self._reads.get():
            first, *others = read.split(b"\n")
            # Of a line that is too long, just so much is kept that this can be told.
            line += first[: self._max_bytes + 1 - len(line)]
            for other in others:
                yield bytes(line)
                line = bytearray(other[: self._max_bytes + 1])
        if line:
            yield bytes(line)
