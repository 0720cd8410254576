"""MCP over HTTP: each POST gets one JSON response, and there are no sessions.

The first MCP request imports the SDK, which takes longer than starting the rest of the server.
"""

import asyncio
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..settings import settings
from ..web.requests import AsyncSearch
from .messages import MessageError, check_version, parse_message


def mcp_routes(search: AsyncSearch, version: str) -> list[Route]:
    """Return the routes of the endpoint; GET gets 405, since there are no sessions."""
    endpoint = McpEndpoint(search, version)
    # Both paths are served, since a redirect would be built from the Host header.
    return [McpRoute(path, endpoint, methods=["POST"]) for path in ("/mcp", "/mcp/")]


class McpRoute(Route):
    """A route with a name for metrics, like FastAPI's routes."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request matches this route, and additions to its scope."""
        match, added = super().matches(scope)
        return match, {**added, "route": self}


@dataclass
class McpEndpoint:
    """An ASGI application that runs behind `web.middleware`."""

    search: AsyncSearch
    version: str
    _sdk: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        # The HTTP parser keeps white space at the end of header values, which is not part of them
        # (RFC 9110, section 5.5); the SDK compares whole values.
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
            # Loaded in a thread, so that searches continue meanwhile.
            self._sdk = await asyncio.to_thread(self._load_sdk)
        await self._sdk(scope, receive_again, send)

    def _load_sdk(self) -> ASGIApp:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import TransportSecuritySettings

        from .server import create_server

        server = create_server(self.search, self.version)
        # `web.middleware` has already checked Host and Origin, and knows all names of this server.
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
