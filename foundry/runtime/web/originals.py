"""GET /originals/ID: the original file of a document, from a folder of the owner's.

ORIGINALS names a folder that has a folder for each source, by name, or directly the files of the
only source. A file is sent only if it is byte for byte what was indexed.
"""

import hashlib
import logging
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from ..errors import ConfigurationError
from ..index.documents import DocumentRecord, Documents
from ..index.names import indexed_name
from ..index.reader import current_index
from ..settings import read_variable
from .conditional import answer_with_file
from .documents import require_document

VARIABLE = "ORIGINALS"
MAX_KNOWN = 10_000  # Files whose hashes are cached.

SHOWN = frozenset({"application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp"})
"""Types that browsers display without running scripts; all others are downloaded."""

# Not a policy that blocks parts of the browsers' own viewers.
_POLICY = "default-src 'none'; img-src 'self'; object-src 'self'; style-src 'unsafe-inline'"
_logger = logging.getLogger(__name__)


class Originals:
    """The folder, if any, and the hashes of files sent before."""

    def __init__(self, folder: Path | None) -> None:
        """Read nothing yet."""
        self._folder = folder and folder.resolve()
        self._hashes: dict[tuple[Path, int, int, int], str] = {}

    @classmethod
    def open(cls) -> "Originals":
        """Return the originals of the environment. Raises ConfigurationError."""
        written = read_variable(VARIABLE)
        if written is None:
            _logger.warning("no files are sent: %s is not set", VARIABLE)
            return cls(None)
        if not Path(written).is_dir():
            hint = "name a folder with a folder for each source, by its name"
            raise ConfigurationError(f"{VARIABLE}: {written} is not a folder", hint=hint)
        return cls(Path(written))

    def find(self, document: DocumentRecord) -> Path | None:
        """Return the file of a document, if it is there and unchanged since it was indexed."""
        for written in self._candidates(document):
            with suppress(OSError, ValueError, RuntimeError):
                path = written.resolve()
                is_inside = self._folder is not None and path.is_relative_to(self._folder)
                if is_inside and self._hash(path, document.bytes) == document.sha256:
                    return path
        return None

    def _candidates(self, document: DocumentRecord) -> Iterator[Path]:
        if self._folder is not None:
            for place in document.places():
                yield from _find_named(self._folder / place.source, place.path)
                yield from _find_named(self._folder, place.path)

    def _hash(self, path: Path, size: int) -> str | None:
        """Return the SHA-256 of a file, if it has this size. Raises OSError."""
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size != size:
            return None
        key = path, found.st_ino, found.st_size, found.st_mtime_ns
        known = self._hashes.get(key)
        if known is None:
            with path.open("rb") as file:
                known = hashlib.file_digest(file, "sha256").hexdigest()
            if len(self._hashes) >= MAX_KNOWN:
                self._hashes.clear()
            self._hashes[key] = known
        return known


def _find_named(folder: Path, path: str) -> list[Path]:
    """Return the paths below a folder that the index calls by this name: mostly one."""
    places = [folder]
    for part in PurePosixPath(path).parts:
        if "\ufffd" not in part and "\\" not in part:
            places = [place / part for place in places]
            continue
        found = []
        for place in places:
            with suppress(OSError, ValueError):
                found += [each for each in place.iterdir() if indexed_name(each.name) == part]
        places = found
    return places


def original_routes(originals: Originals) -> APIRouter:
    """Return GET /originals/ID."""
    routes = APIRouter(tags=["content"])

    # `:path`, because ids may contain slashes. In a thread, because it reads a file.
    @routes.get(
        "/originals/{document_id:path}",
        response_class=FileResponse,
        responses={
            200: {"content": {"application/octet-stream": {}}},
            206: {"description": "The ranges that the request asks for."},
            304: {"description": "The client has the file."},
        },
    )
    def original(document_id: str, request: Request) -> Response:
        """Return the file that a document was read from, byte for byte."""
        record = require_document(current_index().part(Documents.open), document_id)
        path = originals.find(record)
        if path is None:
            raise HTTPException(404, "The server does not have the file of this document.")
        is_shown = record.media_type in SHOWN
        return answer_with_file(
            request,
            path,
            record.bytes,
            etag=f'"{record.sha256}"',
            headers={"Content-Security-Policy": _POLICY} if is_shown else {},
            media_type=record.media_type if is_shown else "application/octet-stream",
            filename=indexed_name(path.name),
            content_disposition_type="inline" if is_shown else "attachment",
        )

    return routes
