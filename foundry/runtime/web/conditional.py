"""Conditional and range requests for files (RFC 9110, sections 13 and 14).

Needed because Starlette 1.10 sends an ETag but never responds 304. It also responds to unknown
range units with 400, in plain text, and with 416 if only one of several ranges is beyond the end.
"""

import re
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from pathlib import Path

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

MAX_RANGES = 100
MAX_DIGITS = 18  # No file is that long, and parsing more digits takes time.

_TAGS = re.compile(r'(?:W/)?"[^"]*"')
_RANGE = re.compile(r"[ \t]*(\d*)-(\d*)[ \t]*", re.ASCII)

Ranges = list[tuple[int, int]]
"""First and last byte position of each range."""


def answer_with_file(
    request: Request, path: Path, size: int, *, etag: str, headers: dict[str, str], **options: str
) -> Response:
    """Return a file, the requested ranges of it, or 304 if the client already has it.

    `options` are those of FileResponse. Raises HTTPException 412, and 416 if no range is
    satisfiable.
    """
    modified = datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
    headers = {**headers, "ETag": etag, "Last-Modified": format_datetime(modified, usegmt=True)}
    if is_not_modified(request.headers, etag, modified):
        return Response(status_code=304, headers=headers)
    ranges = wanted_ranges(request.headers, size, etag, headers["Last-Modified"])
    return _FileResponse(path, ranges, headers=headers, **options)


def is_not_modified(headers: Headers, etag: str, modified: datetime) -> bool:
    """Return whether to respond 304. Raises HTTPException 412 if a precondition fails."""
    required, unmodified = _tags(headers, "if-match"), _date(headers, "if-unmodified-since")
    if required is not None:
        is_refused = required != ["*"] and etag not in required
    else:
        is_refused = unmodified is not None and modified > unmodified
    if is_refused:
        raise HTTPException(412, "The file has changed since the version that the request names.")
    known, since = _tags(headers, "if-none-match"), _date(headers, "if-modified-since")
    if known is not None:
        return known == ["*"] or etag in [tag.removeprefix("W/") for tag in known]
    return since is not None and modified <= since


def wanted_ranges(headers: Headers, size: int, etag: str, last_modified: str) -> Ranges:
    """Return the requested ranges of a file of `size` bytes; none means the whole file.

    Ranges that cannot be parsed, or are for another version of the file (If-Range), are ignored.
    Raises HTTPException 416.
    """
    written = headers.getlist("range")
    unit, equals, specified = (written or [""])[0].partition("=")
    if len(written) != 1 or not equals or unit.strip().lower() != "bytes":
        return []
    if headers.get("if-range", etag) not in (etag, last_modified):
        return []
    parts = [part for part in specified.split(",") if part.strip(" \t")]
    found = [_RANGE.fullmatch(part) for part in parts]
    if not found or len(found) > MAX_RANGES:
        return []
    ranges = []
    for match in found:
        if match is None or max(map(len, match.groups())) > MAX_DIGITS or match[0].strip() == "-":
            return []
        first, last = match.groups()
        start = int(first) if first else max(0, size - int(last))
        end = min(int(last), size - 1) if first and last else size - 1
        if first and last and int(first) > int(last):
            return []
        if start <= end:
            ranges.append((start, end))
    if not ranges:
        detail = f"The range is outside the file, which has {size} bytes."
        raise HTTPException(416, detail, {"Content-Range": f"bytes */{size}"})
    return ranges


def _tags(headers: Headers, name: str) -> list[str] | None:
    written = ", ".join(headers.getlist(name))
    if written.strip() == "*":
        return ["*"]
    return _TAGS.findall(written) if written else None


def _date(headers: Headers, name: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(headers.get(name, ""))
    except (ValueError, TypeError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


class _FileResponse(FileResponse):
    """Sends given ranges instead of those in the request."""

    def __init__(self, path: Path, ranges: Ranges, *, headers: dict[str, str], **options: str):
        super().__init__(path, headers=headers, **options)  # type: ignore[arg-type]
        self._ranges = ranges

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        fields = [field for field in scope["headers"] if field[0] not in (b"range", b"if-range")]
        if self._ranges:
            written = ",".join(f"{start}-{end}" for start, end in self._ranges)
            fields.append((b"range", f"bytes={written}".encode()))
        await super().__call__({**scope, "headers": fields}, receive, send)
