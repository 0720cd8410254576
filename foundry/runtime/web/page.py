"""The pages for browsers: documents without any data, which fetch all they show as JSON.

A page is a file of `page/` with the style sheets and scripts that it names put in their places, so
that it arrives in one answer and its Content-Security-Policy (CSP, level 3) can name every block by
hash. Nothing else runs, nothing is loaded from elsewhere, and no text can become markup. Having no
data, pages are open to all; what they fetch needs the token that the page asks its reader for.
"""

import hashlib
import re
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Request, Response
from starlette.types import Scope

from ..index.errors import ConfigurationError
from .llms import markdown_of
from .problems import PROBLEM_RESPONSES

ASSETS = (
    "document.css",
    "document.html",
    "document.js",
    "docs.css",
    "docs.html",
    "docs.js",
    "explain.js",
    "filters.js",
    "head.js",
    "highlight.js",
    "page.css",
    "page.js",
    "result.js",
    "schema.js",
    "search.css",
    "search.html",
    "search.js",
    "text.js",
)
"""The files of `page/` that these pages are made of."""

FOLDER = Path(__file__).parents[1] / "page"

PAGE_PATHS = frozenset({"/", "/chat", "/docs"})

_REFERENCE = re.compile(
    r'<link rel="stylesheet" href="(?P<style>[a-z]+\.css)">'
    r'|<script src="(?P<script>[a-z]+\.js)"></script>'
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it is sent."""

    body: bytes
    policy: str

    @classmethod
    def read(cls, name: str) -> "Page":
        """Read a page of `page/`. Raises ConfigurationError if a file of it cannot be used."""
        hashes: dict[str, list[str]] = {"style": [], "script": []}

        def put_in(reference: re.Match[str]) -> str:
            kind = reference.lastgroup or ""
            content = _read(reference[kind])
            if f"</{kind}" in content.lower():
                raise ConfigurationError(
                    f"page/{reference[kind]} contains </{kind}, which would end it",
                    hint="write it in two parts",
                )
            digest = b64encode(hashlib.sha256(content.encode()).digest()).decode()
            hashes[kind].append(f"'sha256-{digest}'")
            return f"<{kind}>{content}</{kind}>"

        body = _REFERENCE.sub(put_in, _read(name))
        directives = (
            "default-src 'none'",
            f"script-src {' '.join(hashes['script'])}",
            f"style-src {' '.join(hashes['style'])}",
            "connect-src 'self'",
            # The icon in the address bar.
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
        return cls(body.encode(), "; ".join(directives))

    def response(self) -> Response:
        """The page as an answer."""
        headers = {"Content-Security-Policy": self.policy, "Vary": "Accept"}
        return Response(self.body, headers=headers, media_type="text/html")


def page_routes(chat: Page | None = None) -> APIRouter:
    """The pages for searching, reading a document, trying the doors and, if given, for chat.

    Raises ConfigurationError if a file of a page cannot be used.
    """
    routes = APIRouter(responses=PROBLEM_RESPONSES)
    pages = {"/": Page.read("search.html"), "/docs": Page.read("docs.html")}
    if chat is not None:
        pages["/chat"] = chat
    document_page = Page.read("document.html")

    for path, page in pages.items():
        routes.add_api_route(path, page.response, include_in_schema=False)

    @routes.get(
        "/d/{document_id:path}",
        tags=["agents"],
        response_class=Response,
        responses={200: {"content": {"text/markdown": {}, "text/html": {}}}},
    )
    def document_text(document_id: str, request: Request) -> Response:
        """A document as Markdown, with or without `.md` behind its id; browsers get its page."""
        if is_page(request.scope):
            return document_page.response()
        return markdown_of(document_id)

    return routes


def is_page(scope: Scope) -> bool:
    """Whether the answer to a request is a page, and so holds no data.

    Under /d/ it is one for whoever accepts HTML and does not prefer Markdown by naming it.
    """
    if scope["method"] != "GET":
        return False
    path: str = scope["path"]
    if path.startswith("/d/"):
        accepted = b",".join(value for name, value in scope["headers"] if name == b"accept").lower()
        return b"text/html" in accepted and b"text/markdown" not in accepted
    return path in PAGE_PATHS


def _read(name: str) -> str:
    try:
        return (FOLDER / name).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"page/{name} is unreadable: {error}", hint="restore it from a trusted copy"
        ) from None
