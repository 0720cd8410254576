"""The documents as Markdown for agents: each by itself, a list of them, and all in one.

`/llms.txt` is as https://llmstxt.org describes it: a title, a summary in a quotation, and lists of
links; `/llms-full.txt` has the texts themselves.
"""

import re
from collections.abc import Iterator

from fastapi import APIRouter
from fastapi.responses import Response, StreamingResponse
from starlette.exceptions import HTTPException

from ..index.reader import Index, read_document
from ..index.records import DocumentRecord
from ..index.served import current_index
from ..retrieval.settings import settings
from .citations import page_path, public_url
from .problems import PROBLEM_RESPONSES

MARKDOWN = "text/markdown"
MAX_LISTED = 1_000
"""Documents that /llms.txt names."""

MAX_FULL_CHARACTERS = 4_000_000
"""Of /llms-full.txt; a document that has begun is finished."""

BLOCK_CHARACTERS = 32_768
"""Of a stream that are put together before they are sent: each block is a turn of a thread."""

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|])")

agent_routes = APIRouter(tags=["agents"], responses=PROBLEM_RESPONSES)


@agent_routes.get(
    "/llms.txt", response_class=Response, responses={200: {"content": {MARKDOWN: {}}}}
)
def llms() -> Response:
    """Return what this server holds, as Markdown for agents: its documents and its doors."""
    return Response("".join(_overview(current_index())), media_type=MARKDOWN)


@agent_routes.get(
    "/llms-full.txt", response_class=Response, responses={200: {"content": {MARKDOWN: {}}}}
)
def llms_full() -> Response:
    """Return the text of every document as one Markdown document, up to a limit that it names."""
    return StreamingResponse(_in_blocks(_everything(current_index())), media_type=MARKDOWN)


def markdown_of(document_id: str) -> Response:
    """A document as Markdown; the id may have `.md` behind it. Raises HTTPException 404."""
    index = current_index()
    record = index.find_document(document_id)
    if record is None:
        record = index.find_document(document_id.removesuffix(".md"))
    if record is None:
        raise HTTPException(404, "There is no document with this id.")
    blocks = _in_blocks(_text(index, record))
    return StreamingResponse(blocks, media_type=MARKDOWN, headers={"Vary": "Accept"})


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
        yield f"- [{_line(record.title)}]({address}{page_path(record)}.md){where}\n"
    if index.document_count > MAX_LISTED:
        rest = index.document_count - MAX_LISTED
        yield f"\n{rest} more: `GET {address}/documents?offset={MAX_LISTED}`.\n"
    yield (
        "\n## Optional\n\n"
        f"- [All documents]({address}/llms-full.txt): their texts, one after the other\n"
        f"- [OpenAPI document]({address}/openapi.json): every door of this server\n"
    )


def _everything(index: Index) -> Iterator[str]:
    written = 0
    yield f"# {_line(settings().title)}\n"
    for number in range(index.document_count):
        if written >= MAX_FULL_CHARACTERS:
            yield (
                f"\n---\n\nThis ends after {number} of {index.document_count} documents;"
                f" `GET {public_url()}/documents?offset={number}` lists the rest.\n"
            )
            return
        record = index.document(number)
        head = f"\n---\n\nTitle: {_line(record.title)}\nPath: {_line(record.path)}\n"
        if record.url:
            head += f"Url: {_line(record.url)}\n"
        yield head + "\n"
        for piece in _text(index, record):
            written += len(piece)
            yield piece


def _text(index: Index, record: DocumentRecord) -> Iterator[str]:
    yield from read_document(index, record)
    yield "\n"


def _in_blocks(pieces: Iterator[str]) -> Iterator[str]:
    """Yield the same text in pieces of BLOCK_CHARACTERS at the least, the last one aside."""
    block: list[str] = []
    length = 0
    for piece in pieces:
        block.append(piece)
        length += len(piece)
        if length >= BLOCK_CHARACTERS:
            yield "".join(block)
            block, length = [], 0
    if block:
        yield "".join(block)


def _line(text: str) -> str:
    """Free text on one line, none of it with a meaning in Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
