"""MCP over HTTP: one POST, one JSON answer, nothing kept between requests.

The SDK takes longer to import than the rest of the server and needs as much memory again, so it
is imported by the first request for MCP: whoever only searches never pays for it.

Messages are checked before it sees them, as the SDK leaves out: JSON-RPC 2.0 gives a request an id
that is a string or a whole number; MCP dropped batches with version 2025-06-18, and since
2026-07-28 a request says its version twice.
"""

import asyncio
from typing import Any

from pydantic_core import from_json, to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..retrieval.results import FindPassage
from ..retrieval.settings import settings
from ..web.runner import AsyncSearch

MCP_PATHS = ("/mcp", "/mcp/")
"""Both answer, because a redirect would be built from the Host header and cost a round trip."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
HEADER_MISMATCH = -32020

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
"""Where a message says its version, in `params._meta`, since 2026-07-28."""


def mcp_routes(
    search: AsyncSearch, version: str, find_passage: FindPassage | None = None
) -> list[Route]:
    """Return the endpoint of protocol versions 2024-11-05 to 2026-07-28, stateless in all of them.

    GET and DELETE are for sessions, of which there are none, and get 405.
    """
    door = McpDoor(search, version, find_passage)
    return [McpRoute(path, door, methods=["POST"], include_in_schema=False) for path in MCP_PATHS]


class McpRoute(Route):
    """A route that names itself to whoever observes requests, as FastAPI's own do."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is for this route, and what the route adds to its scope."""
        match, added = super().matches(scope)
        return match, {**added, "route": self}


class McpDoor:
    """The ASGI application behind the endpoint; it expects `web.middleware` in front of it."""

    def __init__(
        self, search: AsyncSearch, version: str, find_passage: FindPassage | None = None
    ) -> None:
        self._search = search
        self._version = version
        self._find_passage = find_passage
        self._sdk: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        # A field's value has no white space around it (RFC 9110, section 5.5), but the parser of
        # requests leaves what stands at its end.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        request = Request(scope, receive)
        body = await request.body()
        try:
            message = parse_message(body)
            check_version_header(message, request.headers.get("mcp-protocol-version"))
        except EnvelopeError as error:
            refusal = Response(error.to_json(), 400, media_type="application/json")
            await refusal(scope, receive, send)
            return

        pending: list[Message] = [{"type": "http.request", "body": body}]

        async def receive_again() -> Message:
            return pending.pop() if pending else await receive()

        if self._sdk is None:
            # In a thread, so that searches go on meanwhile. Requests that come together each
            # make a server, which costs little: what takes time is the import, and that is one.
            self._sdk = await asyncio.to_thread(self._import_sdk)
        await self._sdk(scope, receive_again, send)

    def _import_sdk(self) -> ASGIApp:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import TransportSecuritySettings

        from .server import create_server

        server = create_server(self._search, self._version, self._find_passage)
        max_body_bytes = settings().max_body_bytes
        # Host and Origin have been checked by then, against lists that name every host. The SDK's
        # own lists know neither upper case nor the address that a connection came in on.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            # A manager and its task group live for one request: nothing has to be started before
            # the first or closed after the last, and no request can reach what another one left.
            manager = StreamableHTTPSessionManager(
                server,
                json_response=True,
                stateless=True,
                security_settings=security,
                max_request_body_size=max_body_bytes,
            )
            async with manager.run():
                await manager.handle_request(scope, receive, send)

        return answer


class EnvelopeError(Exception):
    """A message that cannot be answered; `request_id` is its id, where that can be told."""

    def __init__(self, code: int, message: str, request_id: str | int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.request_id = request_id

    def to_json(self) -> bytes:
        """Return the JSON-RPC answer to the message."""
        error = {"code": self.code, "message": self.message}
        return to_json({"jsonrpc": "2.0", "id": self.request_id, "error": error})


def parse_message(text: bytes) -> dict[str, Any]:
    """Parse a message. Raises EnvelopeError unless it is one JSON object with a proper id.

    Not JSON are also what has no UTF-8 form, NaN, and nesting deeper than 200.
    """
    try:
        message = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise EnvelopeError(PARSE_ERROR, f"Parse error: {error}") from None
    if isinstance(message, list):
        raise EnvelopeError(INVALID_REQUEST, "Send one message at a time: there are no batches.")
    if not isinstance(message, dict):
        raise EnvelopeError(INVALID_REQUEST, "A message must be a JSON object.")
    identifier = message.get("id", "")
    if not isinstance(identifier, str | int) or isinstance(identifier, bool):
        raise EnvelopeError(INVALID_REQUEST, "An id must be a string or a whole number.")
    return message


def check_version_header(message: dict[str, Any], header: str | None) -> None:
    """Raise EnvelopeError if a message says a version and the header says another or none."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    said = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    if said is not None and said != header:
        raise EnvelopeError(
            HEADER_MISMATCH,
            f"The MCP-Protocol-Version header must equal {VERSION_KEY} in the message.",
            message.get("id"),
        )
