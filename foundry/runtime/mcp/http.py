"""MCP over HTTP: one POST, one JSON answer, nothing kept between requests.

The SDK takes longer to import than the rest of the server and needs as much memory again, so it
is imported by the first request for MCP: whoever only searches never pays for it.
"""

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..retrieval.results import FindPassage
from ..retrieval.settings import settings
from ..web.runner import AsyncSearch
from .envelope import EnvelopeError, check_version_header, parse_message

MCP_PATHS = ("/mcp", "/mcp/")
"""Both answer, because a redirect would be built from the Host header and cost a round trip."""


def mcp_routes(
    search: AsyncSearch, version: str, find_passage: FindPassage | None = None
) -> list[Route]:
    """The endpoint of protocol versions 2024-11-05 to 2026-07-28, stateless in all of them.

    GET and DELETE are for sessions, of which there are none, and get 405.
    """
    door = McpDoor(search, version, find_passage)
    return [McpRoute(path, door, methods=["POST"], include_in_schema=False) for path in MCP_PATHS]


class McpRoute(Route):
    """A route that names itself to whoever observes requests, as FastAPI's own do."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a request is for this route, and what the route adds to its scope."""
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
