"""Lets pages of other sites search: serves the script of a search box, with CORS.

Pages of allowed origins may only GET searches and suggestions. Browsers send neither cookies nor
tokens: with API_TOKENS set, the server uses SEARCH_BOX_TOKEN for them. Anyone can fake an origin,
so everything that this token may see is public.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256

from fastapi import APIRouter, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import ConfigurationError
from ..settings import read_variable, reading
from .middleware import values_of
from .page import read_page_file

SCRIPT_PATH = "/search.js"
BOX_PATHS = (SCRIPT_PATH, "/search", "/suggest")
SCRIPT_SECONDS = 3600
PREFLIGHT_SECONDS = 600

_TOKEN = "SEARCH_BOX_TOKEN"
Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Sites:
    """The origins that may search, and the token used for them."""

    origins: frozenset[str]
    authorization: bytes | None = None

    @classmethod
    def read(cls, known: Collection[bytes] = ()) -> "Sites":
        """Read settings.json and the environment; `known` are the digests of callers' tokens.

        Raises ConfigurationError.
        """
        with reading() as values:
            origins = frozenset(map(str, values["allowed_origins"]))
        token = read_variable(_TOKEN)
        if known and token is None:
            raise ConfigurationError(
                "API_TOKENS is set, but the search box on other sites has no token",
                hint=f"set {_TOKEN} to one of them; everything it may see becomes public",
            )
        if token is not None:
            if sha256(token.encode()).digest() not in known:
                hint = f"add it to API_TOKENS, or unset {_TOKEN}"
                raise ConfigurationError(f"{_TOKEN} is not one of API_TOKENS", hint=hint)
            return cls(origins, b"Bearer " + token.encode())
        return cls(origins)

    def with_token(self, headers: Headers) -> Headers:
        """Return the headers of a request, with the search box's token if they have none."""
        if self.authorization is None or any(name == b"authorization" for name, _ in headers):
            return headers
        return [*headers, (b"authorization", self.authorization)]

    def origin_of(self, scope: Scope) -> bytes | None:
        """Return the origin of a request that its site may make; None for any other request."""
        method, origins = scope["method"], values_of(scope, b"origin")
        if method == "OPTIONS":
            method = b"".join(values_of(scope, b"access-control-request-method")).decode("latin-1")
        if method not in ("GET", "HEAD") or len(origins) != 1:
            return None
        return origins[0] if origins[0].decode("latin-1") in self.origins else None


def box_routes(*, suggestions: bool = False) -> APIRouter:
    """Return routes for the script, and for CORS preflight requests.

    Raises ConfigurationError if the script is unreadable.
    """
    routes = APIRouter(include_in_schema=False)
    script = _compose({"STYLE": read_page_file("box.css"), "SUGGESTS": suggestions})
    headers = {
        "Cache-Control": f"public, max-age={SCRIPT_SECONDS}",
        # Pages with Cross-Origin-Embedder-Policy load no script without this header.
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    allowed = {
        "Access-Control-Allow-Methods": "GET",
        "Access-Control-Max-Age": str(PREFLIGHT_SECONDS),
    }

    @routes.get(SCRIPT_PATH)
    async def box() -> Response:
        return Response(script, headers=headers, media_type="text/javascript")

    async def preflight() -> Response:
        return Response(status_code=204, headers=allowed)

    for path in BOX_PATHS:
        routes.add_api_route(path, preflight, methods=["OPTIONS"])
    return routes


def _compose(values: Mapping[str, object]) -> str:
    """Return the scripts wrapped in one function, so that names cannot clash with a site's."""
    constants = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in values.items())
    scripts = read_page_file("highlight.js") + read_page_file("box.js")
    return f'(() => {{\n"use strict";\n{constants}{scripts}}})();\n'


class ForSites:
    """An ASGI application in front of all other checks, for requests from other sites' pages.

    Such requests, and those for the script, are passed on with the search box's token, and without
    their origin, which the other checks would reject. All other requests are unchanged.
    """

    def __init__(self, app: ASGIApp, sites: Sites) -> None:
        self._app = app
        self._sites = sites

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or scope["path"] not in BOX_PATHS:
            await self._app(scope, receive, send)
            return
        # A cache must not serve one origin's response to another.
        added = [(b"vary", b"Origin")]
        headers, origin = scope["headers"], self._sites.origin_of(scope)
        if origin is not None:
            added.append((b"access-control-allow-origin", origin))
            headers = [field for field in headers if field[0] != b"origin"]
        if origin is not None or scope["path"] == SCRIPT_PATH:
            headers = self._sites.with_token(headers)

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self._app({**scope, "headers": headers}, receive, send_on)
