"""The pages for browsers, which hold no data and are open to all, and the JSON that they fetch.

A page arrives in one response: a file of `page/` with the style sheets and scripts that it names.
Its Content-Security-Policy (CSP, level 3) names each of them by hash, so that nothing else runs,
nothing is loaded from elsewhere, and no text can become markup.
"""

import re
from base64 import b64encode
from collections import defaultdict
from dataclasses import dataclass
from hashlib import sha256
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
from .json import JsonResponse
from .llms import MARKDOWN, markdown_of
from .problems import PROBLEM_RESPONSES
from .requests import PassageParameters

FOLDER = Path(__file__).parents[1] / "page"
PAGE_PATHS = frozenset({"/", "/chat", "/docs"})

MAX_TAGS = 1_000
MAX_EXAMPLES = 4
MAX_VALUES = 50
"""Values of a filter to choose from; where there are more, they are typed."""

# `data:` is for the icon in the address bar.
_POLICY = (
    "default-src 'none'; script-src {script}; style-src {style}; connect-src 'self';"
    " img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types 'none'"
)
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
        """Read a page of `page/`. Raises ConfigurationError if a file of it is unreadable."""
        hashes = defaultdict[str, list[str]](list)

        def put_in(reference: re.Match[str]) -> str:
            kind = reference.lastgroup or ""
            content = (FOLDER / reference[kind]).read_text("utf-8")
            digest = b64encode(sha256(content.encode()).digest()).decode()
            hashes[kind].append(f"'sha256-{digest}'")
            return f"<{kind}>{content}</{kind}>"

        try:
            body = _REFERENCE.sub(put_in, (FOLDER / name).read_text("utf-8"))
        except (OSError, ValueError) as error:
            problem = f"page/{name} is unreadable: {error}"
            raise ConfigurationError(problem, hint="restore it from a trusted copy") from None
        allowed = {kind: " ".join(hashes[kind]) for kind in ("script", "style")}
        return cls(body.encode(), _POLICY.format(**allowed))

    async def response(self) -> Response:
        """Return the page as a response."""
        headers = {"Content-Security-Policy": self.policy, "Vary": "Accept"}
        return Response(self.body, headers=headers, media_type="text/html")


@dataclass(frozen=True, slots=True)
class DocumentPassages(Record):
    """A document, with some of its passages, from `offset` on."""

    document: DocumentAnswer
    offset: int
    chunks: list[ChunkRecord]


def page_routes(*, chat: bool = False) -> APIRouter:
    """Return the pages, and GET /about and GET /chunks, which they fetch.

    Raises ConfigurationError if a file of a page is unreadable.
    """
    routes = APIRouter(responses=PROBLEM_RESPONSES)
    page = Page.read("document.html")
    names = {"/": "search.html", "/docs": "docs.html"} | ({"/chat": "chat.html"} if chat else {})
    for path, name in names.items():
        routes.add_api_route(path, Page.read(name).response, include_in_schema=False)

    @routes.get(
        "/d/{document_id:path}",
        tags=["agents"],
        response_class=Response,
        responses={200: {"content": {MARKDOWN: {}, "text/html": {}}}},
    )
    async def document_text(document_id: str, request: Request) -> Response:
        """Return a document as Markdown, its id with or without `.md`; browsers get its page."""
        return await page.response() if is_page(request.scope) else markdown_of(document_id)

    @routes.get("/about", include_in_schema=False)
    async def about() -> JsonResponse:
        index, chosen = current_index(), settings()
        manifest, filters = index.manifest, index.filters
        return JsonResponse(
            {
                "title": chosen.title,
                "description": chosen.description,
                "documents": index.document_count,
                "chunks": index.chunk_count,
                "newest": filters.newest_date(),
                "sources": manifest.sources,
                "tags": manifest.tags[:MAX_TAGS],
                "media_types": filters.known_values("media_type", MAX_VALUES),
                "columns": [
                    {"name": name, "values": filters.known_values(name, MAX_VALUES)}
                    for name in filters.columns
                ],
                "examples": [item.query for item in manifest.known_items[:MAX_EXAMPLES]],
                "stop_words": sorted(ENGLISH_STOP_WORDS) if manifest.language == "english" else [],
                "semantic": manifest.dense is not None,
                "chat": chat,
            }
        )

    @routes.get("/chunks", tags=["content"], response_model=DocumentPassages)
    async def passages(parameters: Annotated[PassageParameters, Query()]) -> JsonResponse:
        """Return passages of one document, in the order of its text."""
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
    """Return whether the response to a request is a page, and so holds no data.

    Under /d/ it is one for clients that accept HTML and do not prefer Markdown by naming it.
    """
    if scope["method"] != "GET":
        return False
    path: str = scope["path"]
    if path.startswith("/d/"):
        accepted = b",".join(value for name, value in scope["headers"] if name == b"accept").lower()
        return b"text/html" in accepted and b"text/markdown" not in accepted
    return path in PAGE_PATHS
