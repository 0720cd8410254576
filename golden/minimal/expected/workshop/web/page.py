"""The pages for browsers: documents without any data, and the JSON that they fetch.

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
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from starlette.exceptions import HTTPException
from starlette.types import Scope

from ..index.errors import ConfigurationError
from ..index.records import ChunkRecord, DocumentAnswer, Record
from ..index.served import current_index
from ..retrieval.settings import settings
from ..retrieval.tokens import ENGLISH_STOP_WORDS
from .json import JsonResponse, once
from .llms import markdown_of
from .problems import PROBLEM_RESPONSES
from .requests import PassageParameters

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

MAX_TAGS = 1_000
MAX_VALUES = 50
"""Values of a filter to choose from; where there are more, they are typed."""

MAX_EXAMPLES = 4

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
        """Return the page as an answer."""
        headers = {"Content-Security-Policy": self.policy, "Vary": "Accept"}
        return Response(self.body, headers=headers, media_type="text/html")


def page_routes(chat: Page | None = None) -> APIRouter:
    """Return the pages for searching, reading a document, trying the doors and, if given, for chat.

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


@dataclass(frozen=True, slots=True)
class DocumentPassages(Record):
    """A document, with some of its passages, from number `offset` on."""

    document: DocumentAnswer
    offset: int
    chunks: list[ChunkRecord]


@dataclass(frozen=True, slots=True)
class ColumnAnswer(Record):
    """A column of metadata that searches can be filtered by; `values` are its values, if few."""

    name: str
    values: list[str]


@dataclass(frozen=True, slots=True)
class About(Record):
    """What this server is about.

    `newest` is the date on which a document was modified last, null if none states one; `tags` are
    some of the tags, if there are many, and `media_types` all if they are few; `columns` are
    filters beside those that every server has; `examples` are queries that find something;
    `stop_words` are words that a search by words does not look up; `semantic` is whether there is
    a search by meaning.
    """

    title: str
    description: str
    documents: int
    chunks: int
    newest: str | None
    sources: list[str]
    tags: list[str]
    media_types: list[str]
    columns: list[ColumnAnswer]
    examples: list[str]
    stop_words: list[str]
    semantic: bool
    chat: bool


def page_data_routes(*, chat: bool = False) -> APIRouter:
    """GET /about and GET /chunks; `chat` is whether there is a chat to tell about."""
    routes = APIRouter(tags=["content"], responses=PROBLEM_RESPONSES)

    @routes.get("/about", response_model=About)
    async def about() -> JsonResponse:
        """Return what this server is about, and what it can do."""
        index, chosen = current_index(), settings()
        manifest, filters = index.manifest, index.filters
        stop_words = ENGLISH_STOP_WORDS if manifest.language == "english" else ()
        return JsonResponse(
            About(
                title=chosen.title,
                description=chosen.description,
                documents=index.document_count,
                chunks=index.chunk_count,
                newest=filters.newest_date(),
                sources=manifest.sources,
                tags=manifest.tags[:MAX_TAGS],
                media_types=filters.known_values("media_type", MAX_VALUES),
                columns=[
                    ColumnAnswer(name, filters.known_values(name, MAX_VALUES))
                    for name in filters.columns
                ],
                examples=[item.query for item in manifest.known_items[:MAX_EXAMPLES]],
                stop_words=sorted(stop_words),
                semantic=manifest.dense is not None,
                chat=chat,
            )
        )

    @routes.get("/chunks", response_model=DocumentPassages, dependencies=[once(PassageParameters)])
    async def passages(parameters: Annotated[PassageParameters, Query()]) -> JsonResponse:
        """Passages of one document, in the order of its text."""
        index = current_index()
        record = index.find_document(parameters.document)
        if record is None:
            raise HTTPException(404, "There is no document with this id.")
        offset = parameters.offset
        if parameters.around is not None:
            place = index.place_of(record, parameters.around)
            if place is None:
                raise HTTPException(404, "There is no chunk with this id in the document.")
            offset = max(0, place - parameters.limit // 2)
        chunks = index.chunks_of(record, offset, parameters.limit)
        return JsonResponse(DocumentPassages(record, offset, chunks))

    return routes


def is_page(scope: Scope) -> bool:
    """Return whether the answer to a request is a page, and so holds no data.

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
