"""Pages for browsers, and the documents as Markdown for agents.

A page contains no data, is open to everyone and arrives in one response. Its Content-Security-
Policy names each script and style sheet by hash, so that nothing else runs and no text can become
markup.
"""

import re
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Scope

from ..errors import ConfigurationError, InvalidRequestError
from ..index.documents import DocumentAnswer, Documents, join_chunks
from ..index.reader import Index, current_index
from ..index.records import ChunkRecord, Place, Record, count_of
from ..retrieval.filters import FilterColumns
from ..settings import settings
from .citations import public_url, record_path
from .documents import PageParameters, require_document
from .routes import JsonResponse

FOLDER = Path(__file__).parents[1] / "page"
DOCUMENT = "document.html"
_NAMES = {
    "/": "search.html",
    "/docs": "docs.html",
    "/chat": "chat.html",
    "/browse": "browse.html",
}
PAGES = {path: name for path, name in _NAMES.items() if (FOLDER / name).exists()}
"""The pages that this server has, by path; the document page is at several paths."""

MAX_TAGS = 1_000
MAX_EXAMPLES = 4
MAX_VALUES = 50  # A filter with more values gets a text field instead of a list.
MAX_LISTED = 1_000
MAX_LINKED = 500  # Maximum number of linked documents in a response
PIECES_PER_BLOCK = 64  # Each block of a streamed document takes one call in the thread pool.

MARKDOWN = "text/markdown"

# `data:` is for the icon in the address bar, `blob:` for the pictures that the page of a document
# has fetched with the caller's token.
_POLICY = (
    "default-src 'none'; script-src {script}; style-src {style}; connect-src 'self';"
    " img-src data:{fetched}; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types 'none'"
)
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|])")
_REFERENCE = re.compile(
    r'<link rel="stylesheet" href="(?P<style>[\w-]+\.css)">'
    r'|<script src="(?P<script>[\w-]+\.js)"></script>'
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page with its scripts and style sheets, and its Content-Security-Policy.

    If `is_kept`, a browser that goes back shows the page as the user left it. The search page is
    not kept: it restores its own state and searches again, since the index may have changed.
    """

    body: bytes
    policy: str
    is_kept: bool

    @classmethod
    def read(cls, name: str) -> "Page":
        """Read a page from `page/`. Raises ConfigurationError if one of its files is unreadable."""
        hashes = defaultdict[str, list[str]](list)

        def put_in(reference: re.Match[str]) -> str:
            kind = reference.lastgroup or ""
            content = read_page_file(reference[kind])
            digest = b64encode(sha256(content.encode()).digest()).decode()
            hashes[kind].append(f"'sha256-{digest}'")
            return f"<{kind}>{content}</{kind}>"

        body = _REFERENCE.sub(put_in, read_page_file(name))
        allowed = {kind: " ".join(hashes[kind]) for kind in ("script", "style")}
        allowed["fetched"] = " blob:" if name == DOCUMENT else ""
        return cls(body.encode(), _POLICY.format(**allowed), name != "search.html")

    def response(self) -> Response:
        """Return the page as a response."""
        headers = {"Content-Security-Policy": self.policy, "Vary": "Accept"}
        if self.is_kept:
            headers["Cache-Control"] = "no-cache"
        return Response(self.body, headers=headers, media_type="text/html")


def read_page_file(name: str) -> str:
    """Return a file of `page/`. Raises ConfigurationError if it is unreadable."""
    try:
        return (FOLDER / name).read_text("utf-8")
    except (OSError, ValueError) as error:
        problem = f"page/{name} is unreadable: {error}"
        raise ConfigurationError(problem, hint="restore it from a trusted copy") from None


class PassageParameters(PageParameters):
    """The query string of GET /chunks; `around` is the id of a chunk to place in the middle."""

    document: str
    around: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentPassages(Record):
    """A document, with some of its passages, from `offset` on, and the documents it links to."""

    document: DocumentAnswer
    links: list[Place]
    offset: int
    chunks: list[ChunkRecord]


def page_routes(asks_for_tokens: bool = False) -> APIRouter:
    """Return the pages and their endpoints. Raises ConfigurationError if one is unreadable."""
    routes = APIRouter()
    page = Page.read(DOCUMENT)
    for path, name in PAGES.items():
        routes.add_api_route(path, Page.read(name).response, include_in_schema=False)

    @routes.get(
        "/d/{document_id:path}",
        tags=["agents"],
        response_class=Response,
        responses={200: {"content": {MARKDOWN: {}, "text/html": {}}}},
    )
    def document_text(document_id: str, request: Request) -> Response:
        """Return a document as Markdown; its id may end in `.md`. Browsers get its page."""
        documents = current_index().part(Documents.open)
        names = document_id, document_id.removesuffix(".md")
        if is_page(request.scope):
            answer = page.response()
            # Browsers send no token here, and callers without a token must not learn which
            # documents exist.
            if not asks_for_tokens and not any(map(documents.find, names)):
                answer.status_code = 404
            return answer
        record = require_document(documents, *names)
        pieces = join_chunks(documents.chunks_of(record))
        # Read before the response begins, as the search engine may fail.
        pieces = chain([next(pieces, "")], pieces)

        def blocks() -> Iterator[str]:
            while block := list(islice(pieces, PIECES_PER_BLOCK)):
                yield "".join(block)
            yield "\n"

        return StreamingResponse(blocks(), media_type=MARKDOWN, headers={"Vary": "Accept"})

    @routes.get("/about", include_in_schema=False)
    async def about() -> JsonResponse:
        index, chosen = current_index(), settings()
        manifest, filters = index.manifest, index.part(FilterColumns.open)
        newest = filters.newest_date()
        examples = [item.query for item in manifest.known_items[:MAX_EXAMPLES]]
        # Only callers who see known items see the owner's examples, which may quote documents.
        if examples and chosen.examples:
            examples = [*chosen.examples]
        return JsonResponse(
            {
                "title": chosen.title,
                "description": chosen.description,
                "documents": index.document_count,
                "chunks": index.chunk_count,
                "newest": newest,
                "sources": manifest.sources,
                "tags": manifest.tags[:MAX_TAGS],
                "media_types": filters.known_values("media_type", MAX_VALUES),
                "columns": [
                    {"name": name, "values": filters.known_values(name, MAX_VALUES)}
                    for name in filters.columns
                ],
                "examples": examples,
                "semantic": manifest.dense is not None,
                "chat": "/chat" in PAGES,
                "browse": "/browse" in PAGES,
                "sorting": newest is not None,
            }
        )

    @routes.get("/chunks", tags=["content"], response_model=DocumentPassages)
    def passages(parameters: Annotated[PassageParameters, Query()]) -> JsonResponse:
        """Return passages of one document, in the order of its text."""
        documents = current_index().part(Documents.open)
        record = require_document(documents, parameters.document)
        offset = parameters.offset
        if parameters.around is not None:
            if "offset" in parameters.model_fields_set:
                raise InvalidRequestError("may not be given with offset", field="around")
            place = documents.place_of(record, parameters.around)
            if place is None:
                raise HTTPException(404, "There is no chunk with this id in the document.")
            offset = max(0, place - parameters.limit // 2)
        chunks = documents.chunks_of(record, offset, parameters.limit)
        linked = documents.each(documents.linked_from(record)[:MAX_LINKED])
        links = [place for one in linked for place in one.places()]
        return JsonResponse(DocumentPassages(record, links, offset, [*chunks]))

    return routes


def is_page(scope: Scope) -> bool:
    """Return whether a request gets a page; below /d/, only if it accepts HTML but not Markdown."""
    accepted = ",".join(Headers(scope=scope).getlist("accept")).lower()
    is_browser = "text/html" in accepted and MARKDOWN not in accepted
    is_document = scope["path"].startswith("/d/") and is_browser
    return scope["method"] == "GET" and (is_document or scope["path"] in PAGES)


_markdown: dict[int | str, Any] = {200: {"content": {MARKDOWN: {}}}}
agent_routes = APIRouter(tags=["agents"], default_response_class=Response, responses=_markdown)


@agent_routes.get("/llms.txt")
def llms() -> Response:
    """Return the documents and endpoints of this server as a Markdown list for agents."""
    return Response("".join(_overview(current_index())), media_type=MARKDOWN)


def _overview(index: Index) -> Iterator[str]:
    chosen, address, documents = settings(), public_url(), index.part(Documents.open)
    about = f"> {_line(chosen.description)}\n\n" if chosen.description.strip() else ""
    yield (
        f"# {_line(chosen.title)}\n\n{about}"
        f"{count_of(index.document_count, 'document')} in {count_of(index.chunk_count, 'passage')}."
        f" `GET {address}/search?q=...` ranks passages for a question, as JSON;"
        " the address of a document below returns its text as Markdown.\n\n## Documents\n\n"
    )
    for record in documents.page(0, MAX_LISTED):
        where = f": {_line(record.path)}" if record.path != record.title else ""
        yield f"- [{_line(record.title)}]({address}{record_path(record)}.md){where}\n"
    if (rest := index.document_count - MAX_LISTED) > 0:
        yield f"\n{rest} more: `GET {address}/documents?offset={MAX_LISTED}`.\n"
    yield f"\n## Optional\n\n- [OpenAPI document]({address}/openapi.json): every endpoint\n"


def _line(text: str) -> str:
    """Return a text on one line, with escapes for Markdown characters."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
