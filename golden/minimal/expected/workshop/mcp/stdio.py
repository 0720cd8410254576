"""MCP over standard input and output, for a client that starts this server as its own process.

The SDK's own transport would drop what is still being answered when input ends, say nothing about
lines that are not messages, and hang in a thread that waits for input when it should stop.
"""

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool

from ..index.errors import ServerError
from ..index.served import load
from ..retrieval.results import FindPassage, SearchResponse
from ..retrieval.settings import settings
from ..web.process import loading
from .http import INVALID_REQUEST, MessageError, parse_message

FINISHING_SECONDS = 10.0
"""How long requests may still be answered after input has ended."""

_POLL_SECONDS = 0.01


def serve_stdio(
    search: Callable[..., SearchResponse], version: str, find_passage: FindPassage | None = None
) -> None:
    """Answer until standard input ends or nobody reads standard output any more.

    Only messages reach standard output: anything else that is printed goes to standard error.
    Raises IndexUnusableError, and ServerError if there is no input or output.
    """
    if sys.stdin is None or sys.stdout is None:
        raise ServerError("standard input or output is closed; an MCP client opens both")
    output = os.dup(1)
    os.dup2(2 if sys.stderr else os.open(os.devnull, os.O_WRONLY), 1)
    with loading():
        from mcp.server.stdio import stdio_server

        from .server import create_server

        load()
    server = create_server(partial(run_in_threadpool, search), version, find_passage)

    async def serve() -> None:
        lines: Any = _Lines(output, settings().max_body_bytes)
        async with stdio_server(stdin=lines, stdout=lines) as (messages, answers):
            await server.run(messages, answers, server.create_initialization_options())

    # Nothing needs to be finished, and the SDK turns an interrupt into another error.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        asyncio.run(serve())
    except* BrokenPipeError:
        pass


class _Lines:
    """Standard input as an iterator of messages, and the file that answers are written to.

    A line that is not a message, or has more than `max_bytes`, is answered here.
    """

    def __init__(self, output: int, max_bytes: int) -> None:
        self._output = output
        self._max_bytes = max_bytes
        self._lines: asyncio.Queue[bytes] = asyncio.Queue(maxsize=16)
        self._unanswered: set[str] = set()

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield the messages; ends when input has ended and all requests are answered."""
        loop = asyncio.get_running_loop()
        # A thread, because not every kind of input can be waited for, and a daemon, because a read
        # cannot be interrupted.
        threading.Thread(target=self._read, args=(loop,), daemon=True).start()
        while line := await self._lines.get():
            try:
                if len(line) > self._max_bytes + 1:
                    too_long = f"A message may have {self._max_bytes} bytes."
                    raise MessageError(INVALID_REQUEST, too_long)
                if not line.strip():
                    continue
                match parse_message(line):
                    case {"method": "notifications/cancelled", "params": {"requestId": cancelled}}:
                        self._unanswered.discard(str(cancelled))
                    case {"method": _, "id": asked}:
                        self._unanswered.add(str(asked))
            except MessageError as error:
                self._write(error.reply + b"\n")
                continue
            yield line.decode()
        deadline = loop.time() + FINISHING_SECONDS
        while self._unanswered and loop.time() < deadline:
            await asyncio.sleep(_POLL_SECONDS)

    async def write(self, line: str) -> None:
        """Write one answer, or another message of the server."""
        self._write(line.encode())
        self._unanswered.discard(str(json.loads(line).get("id")))

    async def flush(self) -> None:
        """Do nothing: `write` does not buffer."""

    def _write(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self._output, rest) :]

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        # The file is not sys.stdin, whose lock the interpreter would wait for at exit. Once the
        # event loop has ended, which is a RuntimeError, nobody listens any more.
        with suppress(RuntimeError), open(0, "rb", closefd=False) as file:
            line, goes_on = b"\n", False
            while line:
                line = file.readline(self._max_bytes + 2)
                # Of a line that is too long, only the beginning is kept.
                if not goes_on or not line:
                    asyncio.run_coroutine_threadsafe(self._lines.put(line), loop).result()
                goes_on = not line.endswith(b"\n")
