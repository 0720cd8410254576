"""GET /originals and /pictures: the original files of documents, and the pictures in them."""

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from ..index.documents import Documents
from ..index.names import indexed_name
from ..index.reader import current_index
from ..index.records import Record
from .conditional import answer_with_file
from .documents import require_document
from .pictures import MAX_TARGET, find_packed_picture, find_picture, names_picture
from .requests import RequestModel
from .routes import JsonResponse
from .source_files import Originals

SHOWN = frozenset({"application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp"})
"""Types that browsers display without running scripts."""

MARKUP = frozenset({"application/xhtml+xml", "image/svg+xml", "text/html"})
"""Types that are displayed in a sandbox, where no script runs and nothing is loaded."""

TEXTS = frozenset({"application/json", "application/toml", "application/xml", "application/yaml"})
"""Types that are displayed as plain text, besides `text/`; all others are downloaded."""

# A stricter policy would break the browsers' built-in viewers.
_POLICY = "default-src 'none'; img-src 'self'; object-src 'self'; style-src 'unsafe-inline'"
SANDBOX = (
    "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'none'"
)
OWN_PAGES = {"Cross-Origin-Resource-Policy": "same-origin"}
"""Prevents other sites from embedding a file, or detecting that it exists."""

_SNIFFED_BYTES = 65_536


def describe_content(media_type: str, path: Path) -> dict[str, str]:
    """Return the headers with which a browser displays a file; none if it is a download.

    Raises OSError.
    """
    if media_type in SHOWN:
        return {"Content-Type": media_type, "Content-Security-Policy": _POLICY}
    if media_type in MARKUP:
        return {"Content-Type": media_type, "Content-Security-Policy": SANDBOX}
    if media_type.startswith("text/") or media_type in TEXTS:
        kind = f"text/plain; charset={_guess_charset(path)}"
        return {"Content-Type": kind, "Content-Security-Policy": SANDBOX}
    return {}


def _guess_charset(path: Path) -> str:
    with path.open("rb") as file:
        begin = file.read(_SNIFFED_BYTES)
    if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        # A character may continue after the bytes that were read.
        is_whole = len(begin) < _SNIFFED_BYTES
        codecs.getincrementaldecoder("utf-8")().decode(begin, is_whole)
    except UnicodeDecodeError:
        return "windows-1252"
    return "utf-8"


@dataclass(frozen=True, slots=True)
class FileSources(Record):
    """The names of the sources whose files can be opened."""

    sources: list[str]


class PictureParameters(RequestModel):
    """The query string of GET /pictures: a passage, and a picture target as written in its text."""

    chunk: str
    target: Annotated[str, Field(max_length=MAX_TARGET)]


def original_routes(originals: Originals) -> APIRouter:
    """Return GET /originals, GET /originals/ID and GET /pictures."""
    routes = APIRouter(tags=["content"])

    @routes.get("/originals", response_model=FileSources)
    def sources() -> JsonResponse:
        """Return the sources whose files can be opened."""
        names = current_index().manifest.sources
        return JsonResponse(FileSources([one for one in names if originals.has_files_of(one)]))

    # `:path`, because ids may contain slashes. Not `async`, because it reads a file.
    @routes.get(
        "/originals/{document_id:path}",
        response_class=FileResponse,
        responses={
            200: {"content": {"application/octet-stream": {}}},
            206: {"description": "The requested ranges."},
            304: {"description": "The client already has the file."},
        },
    )
    def original(document_id: str, request: Request) -> Response:
        """Return the original file of a document, byte for byte."""
        record = require_document(current_index().part(Documents.open), document_id)
        path = originals.find(record)
        if path is None:
            raise HTTPException(404, "The server does not have the file of this document.")
        shown = describe_content(record.media_type, path)
        return answer_with_file(
            request,
            path,
            record.bytes,
            etag=f'"{record.sha256}"',
            headers={**OWN_PAGES, **shown},
            media_type="application/octet-stream",
            filename=indexed_name(path.name),
            content_disposition_type="inline" if shown else "attachment",
        )

    @routes.get("/pictures", response_class=FileResponse)
    def picture(parameters: Annotated[PictureParameters, Query()], request: Request) -> Response:
        """Return a picture that a passage shows."""
        index, target = current_index(), parameters.target
        chunk = index.find_chunk(parameters.chunk)
        if chunk is None or not names_picture(chunk.text, target):
            raise HTTPException(404, "There is no passage that shows this picture.")
        record = require_document(index.part(Documents.open), chunk.document_id)
        if packed := find_packed_picture(originals, record, target):
            policy = {**OWN_PAGES, "Content-Security-Policy": SANDBOX}
            return Response(packed[0], headers=policy, media_type=packed[1])
        found = find_picture(originals, record, target)
        if found is None:
            raise HTTPException(404, "The server does not have this picture.")
        path, kind = found
        stat = path.stat()
        return answer_with_file(
            request,
            path,
            stat.st_size,
            etag=f'"{stat.st_mtime_ns:x}-{stat.st_size:x}"',
            headers={**OWN_PAGES, "Content-Type": kind, "Content-Security-Policy": SANDBOX},
            media_type=kind,
            filename=indexed_name(path.name),
            content_disposition_type="inline",
        )

    return routes
