"""MCP over HTTP: one POST, one JSON answer, nothing kept between requests.

The SDK takes longer to import than the rest of the server and needs as much memory again, so the
first request for MCP imports it: a server that is only searched never pays for it.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json, to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..retrieval.results import FindPassage
from ..retrieval.settings import settings
from ..web.requests import AsyncSearch

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
HEADER_MISMATCH = -32020


def mcp_routes(
    search: AsyncSearch, version: str, find_passage: FindPassage | None = None
) -> list[Route]:
    """Return the endpoint of protocol versions 2024-11-05 to 2026-07-28, stateless in all of them.

    GET and DELETE are for sessions, of which there are none, and get 405.
    """
    endpoint = McpEndpoint(search, version, find_passage)
    # Both paths answer, because a redirect would be built from the Host header.
    return [McpRoute(path, endpoint, methods=["POST"]) for path in ("/mcp", "/mcp/")]


class McpRoute(Route):
    """A route that metrics can name, as they can FastAPI's own."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is for this route, and what to add to its scope."""
        match, added = super().matches(scope)
        return match, {**added, "route": self}


@dataclass
class McpEndpoint:
    """An ASGI application, which expects `web.middleware` in front of it."""

    search: AsyncSearch
    version: str
    find_passage: FindPassage | None
    _sdk: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        # The parser of requests leaves white space at the end of a header, which is no part of it
        # (RFC 9110, section 5.5), and the SDK compares the whole.
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
            # In a thread, so that searches go on meanwhile. Simultaneous first requests each make a
            # server, which is cheap: only the import takes time, and it happens once.
            self._sdk = await asyncio.to_thread(self._load_sdk)
        await self._sdk(scope, receive_again, send)

    def _load_sdk(self) -> ASGIApp:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import TransportSecuritySettings

        from .server import create_server

        server = create_server(self.search, self.version, self.find_passage)
        # `web.middleware` has checked Host and Origin: the SDK's lists know neither upper case nor
        # the address that a connection came in on.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            # A manager lives for one request: nothing has to be started before the first or closed
            # after the last, and no request can reach what another one left.
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
    """A message that cannot be answered; `reply` is the JSON-RPC error that says so."""

    def __init__(self, code: int, message: str, request_id: str | int | None = None) -> None:
        super().__init__(message)
        error = {"code": code, "message": message}
        self.reply = to_json({"jsonrpc": "2.0", "id": request_id, "error": error})


def parse_message(text: bytes) -> dict[str, Any]:
    """Parse one message; raises MessageError unless it is an object whose id is possible.

    The SDK never answers a message without a possible id, which it takes for a notification, nor,
    over standard input, what is not a message.
    """
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
    """Raise MessageError if a message names another version than its header.

    The SDK looks at the header alone, and would answer by the rules of an older version.
    """
    match message:
        case {"params": {"_meta": {"io.modelcontextprotocol/protocolVersion": version}}}:
            if version != header:
                said = "The MCP-Protocol-Version header must equal the version in the message."
                raise MessageError(HEADER_MISMATCH, said, message.get("id"))
