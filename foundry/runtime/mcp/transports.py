"""MCP over HTTP, and over standard input and output for clients that start the server themselves.

Over HTTP each POST gets one JSON response, and there are no sessions. Importing the SDK takes
longer than the rest of the server, so the first MCP request imports it. The SDK's own transport for
standard input drops requests in progress when input ends, and ignores invalid lines, so this module
has its own.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic_core import from_json, to_json
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import ServerError
from ..index.reader import load
from ..retrieval.results import SearchResponse
from ..retrieval.settings import settings
from ..web.process import loading
from ..web.requests import AsyncSearch

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
HEADER_MISMATCH = -32020

FINISHING_SECONDS = 10.0  # For finishing requests after standard input has ended.


def mcp_routes(search: AsyncSearch, version: str) -> list[Route]:
    """Return the endpoint for all protocol versions; without sessions, GET gets 405."""
    endpoint = McpEndpoint(search, version)
    # Both paths are served, since a redirect would be built from the Host header.
    return [McpRoute(path, endpoint, methods=["POST"]) for path in ("/mcp", "/mcp/")]


class McpRoute(Route):
    """A route with a name for metrics, like FastAPI's routes."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is for this route, with additions to its scope."""
        match, added = super().matches(scope)
        return match, {**added, "route": self}


@dataclass
class McpEndpoint:
    """An ASGI application, to be run behind `web.middleware`."""

    search: AsyncSearch
    version: str
    _sdk: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        # The HTTP parser keeps white space at the end of a header value, which is not part of it
        # (RFC 9110, section 5.5), and the SDK compares the whole value.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        request = Request(scope, receive)
        body = await request.body()
        try:
            message = parse_message(body)
            check_version(message, request.headers.get("mcp-protocol-version"))
        except MessageError as error:
            await Response(error.reply, 400, media_type="application/json")(scope, receive, send)
            return
        unread: list[Message] = [{"type": "http.request", "body": body}]

        async def receive_again() -> Message:
            return unread.pop() if unread else await receive()

        if self._sdk is None:
            # In a thread, so that searches continue.
            self._sdk = await asyncio.to_thread(self._load_sdk)
        await self._sdk(scope, receive_again, send)

    def _load_sdk(self) -> ASGIApp:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import TransportSecuritySettings

        from .server import create_server

        server = create_server(self.search, self.version)
        # `web.middleware` has checked Host and Origin, and knows all names of this server.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            # One manager per request, so that requests share no state.
            manager = StreamableHTTPSessionManager(
                server,
                json_response=True,
                stateless=True,
                security_settings=security,
                max_request_body_size=settings().max_body_bytes,
            )
            async with manager.run():
                await manager.handle_request(scope, receive, send)

        return answer


class MessageError(Exception):
    """An invalid message; `reply` is the JSON-RPC error for it."""

    def __init__(self, code: int, message: str, request_id: str | int | None = None) -> None:
        super().__init__(message)
        error = {"code": code, "message": message}
        self.reply = to_json({"jsonrpc": "2.0", "id": request_id, "error": error})


def parse_message(text: bytes) -> dict[str, Any]:
    """Parse one message. Raises MessageError unless it is an object with a valid id."""
    try:
        message = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise MessageError(PARSE_ERROR, f"Parse error: {error}") from None
    if not isinstance(message, dict):
        raise MessageError(INVALID_REQUEST, "Send one JSON object; there are no batches.")
    if type(message.get("id", "")) not in (str, int):
        raise MessageError(INVALID_REQUEST, "An id must be a string or a whole number.")
    return message


def check_version(message: dict[str, Any], header: str | None) -> None:
    """Raise MessageError if a message's version differs from the header's, which the SDK uses."""
    match message:
        case {"params": {"_meta": {"io.modelcontextprotocol/protocolVersion": version}}}:
            if version != header:
                said = "The MCP-Protocol-Version header must equal the version in the message."
                raise MessageError(HEADER_MISMATCH, said, message.get("id"))


def serve_stdio(search: Callable[..., SearchResponse], version: str) -> None:
    """Serve until standard input ends; other output goes to standard error.

    Raises IndexUnusableError, or ServerError if standard input or output is closed.
    """
    if sys.stdin is None or sys.stdout is None:
        raise ServerError("standard input or output is closed; an MCP client opens both")
    output = os.dup(1)
    os.dup2(2 if sys.stderr else os.open(os.devnull, os.O_WRONLY), 1)
    with loading():
        from mcp.server.stdio import stdio_server

        from .server import create_server

        load()
    server = create_server(partial(run_in_threadpool, search), version)

    async def serve() -> None:
        lines: Any = _Lines(output)
        async with stdio_server(stdin=lines, stdout=lines) as (messages, answers):
            await server.run(messages, answers, server.create_initialization_options())

    # Nothing needs cleaning up, and the SDK would turn an interrupt into another error.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(serve())


class _Lines:
    """Standard input as an iterator of messages, and the file for answers."""

    def __init__(self, output: int) -> None:
        self._output = output
        self._unanswered: set[str] = set()

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield messages; ends once input has ended and all requests are answered."""
        with open(0, "rb", closefd=False) as file:
            while line := await asyncio.to_thread(file.readline):
                try:
                    message = parse_message(line) if line.strip() else {}
                except MessageError as error:
                    self._write(error.reply + b"\n")
                    continue
                match message:
                    case {"method": "notifications/cancelled", "params": {"requestId": cancelled}}:
                        self._unanswered.discard(str(cancelled))
                    case {"method": _, "id": asked}:
                        self._unanswered.add(str(asked))
                if message:
                    yield line.decode()
        with suppress(TimeoutError):
            async with asyncio.timeout(FINISHING_SECONDS):
                while self._unanswered:
                    await asyncio.sleep(0.01)

    async def write(self, line: str) -> None:
        """Write an answer or another message of the server."""
        self._write(line.encode())
        self._unanswered.discard(str(from_json(line).get("id")))

    async def flush(self) -> None:
        """Do nothing: `write` does not buffer."""

    def _write(self, line: bytes) -> None:
        try:
            while line:
                line = line[os.write(self._output, line) :]
        except BrokenPipeError:
            # The client is gone, and the thread that reads input cannot be interrupted.
            os._exit(0)
