"""The documents as Markdown for agents, each by itself or all in one; see https://llmstxt.org."""

import re
from collections.abc import Iterator
from itertools import islice

from fastapi import APIRouter
from fastapi.responses import Response, StreamingResponse
from starlette.exceptions import HTTPException

from ..index.reader import Index, read_document
from ..index.served import current_index
from ..retrieval.settings import settings
from .citations import public_url, record_path
from .problems import PROBLEM_RESPONSES

MARKDOWN = "text/markdown"
MAX_LISTED = 1_000
PIECES_PER_BLOCK = 64
"""Pieces of a stream that are sent together: each block is a turn of a thread."""

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|])")

agent_routes = APIRouter(
    tags=["agents"],
    default_response_class=Response,
    responses={**PROBLEM_RESPONSES, 200: {"content": {MARKDOWN: {}}}},
)


@agent_routes.get("/llms.txt")
def llms() -> Response:
    """Return the documents and endpoints of this server, listed in Markdown for agents."""
    return Response("".join(_overview(current_index())), media_type=MARKDOWN)


@agent_routes.get("/llms-full.txt")
def llms_full() -> Response:
    """Return the texts of the documents as one in Markdown, of the first 1,000."""
    return _stream(_everything(current_index()))


def markdown_of(document_id: str) -> Response:
    """Return a document as Markdown; its id may end in `.md`. Raises HTTPException 404."""
    index = current_index()
    find = index.find_document
    record = find(document_id) or find(document_id.removesuffix(".md"))
    if record is None:
        raise HTTPException(404, "There is no document with this id.")
    return _stream(read_document(index, record))


def _stream(pieces: Iterator[str]) -> Response:
    def blocks() -> Iterator[str]:
        while block := list(islice(pieces, PIECES_PER_BLOCK)):
            yield "".join(block)
        yield "\n"

    return StreamingResponse(blocks(), media_type=MARKDOWN, headers={"Vary": "Accept"})


def _overview(index: Index) -> Iterator[str]:
    chosen, address = settings(), public_url()
    yield f"# {_line(chosen.title)}\n\n"
    if chosen.description.strip():
        yield f"> {_line(chosen.description)}\n\n"
    yield (
        f"{index.document_count} documents in {index.chunk_count} passages."
        f" `GET {address}/search?q=...` ranks passages for a question, as JSON;"
        " a document's address below gives all of it as Markdown.\n\n## Documents\n\n"
    )
    for record in index.documents(0, MAX_LISTED):
        where = f": {_line(record.path)}" if record.path != record.title else ""
        yield f"- [{_line(record.title)}]({address}{record_path(record)}.md){where}\n"
    yield from _rest(index)
    yield (
        "\n## Optional\n\n"
        f"- [All documents]({address}/llms-full.txt): their texts, one after the other\n"
        f"- [OpenAPI document]({address}/openapi.json): every endpoint of this server\n"
    )


def _everything(index: Index) -> Iterator[str]:
    yield f"# {_line(settings().title)}\n"
    for record in index.documents(0, MAX_LISTED):
        url = f"Url: {_line(record.url)}\n" if record.url else ""
        yield f"\n---\n\nTitle: {_line(record.title)}\nPath: {_line(record.path)}\n{url}\n"
        yield from read_document(index, record)
        yield "\n"
    yield from _rest(index)


def _rest(index: Index) -> Iterator[str]:
    if (rest := index.document_count - MAX_LISTED) > 0:
        yield f"\n{rest} more: `GET {public_url()}/documents?offset={MAX_LISTED}`.\n"


def _line(text: str) -> str:
    # On one line, without markup.
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
