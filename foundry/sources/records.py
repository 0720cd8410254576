"""A CSV or JSONL table with one document per row, read row by row."""

import json
import re
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urljoin

from foundry.config.sources import RecordsSource
from foundry.documents import RawDocument, Skipped
from foundry.documents.reasons import AnyReason, Reason
from foundry.errors import SourceError
from foundry.runtime.index.names import indexed_name
from foundry.sources.tables import Row, RowProblem, parse_line, read_csv, read_lines
from foundry.urls import parse_url

ROW_HASH_BYTES = 16

_MEDIA_TYPES = {"text": "text/plain", "markdown": "text/markdown", "html": "text/html"}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_OF_DATES = frozenset(
    "at date datetime day created modified on published time timestamp updated when".split()
)
_DEFAULTS = {"title": "title", "url": "url", "modified": "modified", "tags_column": "tags"}


# Not frozen: frozen dataclasses take three times as long to create, and tables may have millions of
# rows.
@dataclass(slots=True)
class KnownRow:
    """A line that became a document: its hash, the document's key, and the names of its columns."""

    digest: bytes
    key: str
    columns: tuple[str, ...]


class Delivered(NamedTuple):
    """A row of a table: `document` is its document or why it is skipped, None for a known row.

    `row` describes the line of a document; it is None for CSV files.
    """

    document: RawDocument | Skipped | None
    row: KnownRow | None = None


def look(source: RecordsSource, find: Callable[[bytes], KnownRow | None]) -> Iterator[Delivered]:
    """Deliver the table's rows; the `key` of a document is its row's id as written.

    `find` looks up a line by its hash and returns its earlier result under the same options; a
    known line is not parsed.

    A row that is malformed, has no usable id, has neither text nor title, or repeats an id is
    delivered as Skipped with its number. A url without a scheme is joined to `base_url`; a row
    without a url gets `base_url`, one slash and its percent-encoded id; urls that are not plain
    http or https, or contain a user name, are dropped. Raises SourceError if the file cannot be
    read, or if no row has a configured column.
    """
    try:
        yield from _convert_rows(source, find)
    except OSError as error:
        raise SourceError(
            f"source {source.name}: cannot read {source.path}: {error.strerror}",
            hint="correct the source's path in foundry.toml",
        ) from None


def _convert_rows(
    source: RecordsSource, find: Callable[[bytes], KnownRow | None]
) -> Iterator[Delivered]:
    columns: dict[str, None] = {}
    named: set[tuple[str, ...]] = set()
    seen: set[str] = set()
    for row, digest in _read_rows(source.path, find, seen):
        if isinstance(row, RowProblem):
            yield Delivered(Skipped(source.name, source.path.name, row.reason, row.detail))
            continue
        own = row.columns if isinstance(row, KnownRow) else tuple(row.values)
        if own not in named:
            named.add(own)
            columns.update(dict.fromkeys(own))
        if isinstance(row, KnownRow):
            seen.add(row.key)
            yield Delivered(None, row)
            continue
        document = _convert(source, row)
        known = None
        if isinstance(document, RawDocument):
            if document.key in seen:
                document = _skip(source, row, Reason.DUPLICATE_ID, document.path)
            else:
                seen.add(document.key)
                known = KnownRow(digest, document.key, own) if digest else None
        yield Delivered(document, known)
    if columns:
        _check_columns(source, columns)


def _read_rows(
    path: Path, find: Callable[[bytes], KnownRow | None], seen: Container[str]
) -> Iterator[tuple[Row | RowProblem | KnownRow, bytes]]:
    """Yield the rows of a table with the hashes of their lines; rows of CSV files have none.

    A row is known only if its key has not been `seen`.
    """
    if path.suffix == ".csv":
        yield from ((row, b"") for row in read_csv(path))
        return
    for line in read_lines(path):
        if isinstance(line, RowProblem):
            yield line, b""
            continue
        digest = sha256(line.content).digest()[:ROW_HASH_BYTES]
        known = find(digest)
        yield known if known and known.key not in seen else parse_line(line), digest


def _convert(source: RecordsSource, row: Row) -> RawDocument | Skipped:
    values = row.values
    id_column = "_id" if source.id == "id" and "id" not in values else source.id
    key = _repair(_to_text(values.get(id_column)))
    text = values.get(source.text)
    if not key:
        return _skip(source, row, Reason.NO_ID)
    if "\0" in key or not _is_encodable(key):
        return _skip(source, row, Reason.ID_IS_NO_TEXT, indexed_name(key))
    if key in {".", ".."}:
        # Browsers remove such path segments from urls, even if they are escaped.
        return _skip(source, row, Reason.ID_HAS_NO_ADDRESS, key)
    if isinstance(text, (list, dict)):
        return _skip(source, row, Reason.TEXT_IS_NO_STRING, indexed_name(key))
    text, title = _to_text(text), _title_of(values, source.title)
    media_type = _MEDIA_TYPES[source.text_format]
    if not text.strip():
        if title is None:
            return _skip(source, row, Reason.NO_TEXT, indexed_name(key))
        # The title is the only text, and plain text in every format.
        text, media_type = title, _MEDIA_TYPES["text"]
    tags = _split_tags(values.get(source.tags_column)) if source.tags_column else ()
    options = (source.title, source.url, source.modified, source.tags_column)
    named = {id_column, source.text, *options, *source.metadata}
    return RawDocument(
        source=source.name,
        key=key,
        path=indexed_name(key),
        content=_to_bytes(text),
        media_type=media_type,
        id=key,
        title=title,
        url=_resolve_url(source, _optional(values, source.url), key),
        tags=(*source.tags, *tags),
        modified=_optional(values, source.modified),
        metadata={
            name: _to_text(values[name])
            for name in source.metadata
            if values.get(name) not in (None, "")
        },
        unread={
            name: text
            for name, value in values.items()
            if name not in named and (text := _repair(_to_text(value)).strip())
        },
    )


def _skip(source: RecordsSource, row: Row, reason: AnyReason, key: str = "") -> Skipped:
    detail = f"{row.place}, id {key[:200]}" if key else row.place
    return Skipped(source.name, source.path.name, reason, detail)


def _check_columns(source: RecordsSource, columns: Mapping[str, None]) -> None:
    missing = [] if source.text in columns else [f"text = {source.text!r}"]
    if source.id not in columns and not (source.id == "id" and "_id" in columns):
        missing.append(f"id = {source.id!r}")
    for option, default in _DEFAULTS.items():
        column = getattr(source, option)
        if column not in (None, default) and column not in columns:
            missing.append(f"{option} = {column!r}")
    missing += [f"metadata {name!r}" for name in source.metadata if name not in columns]
    if missing:
        there = ", ".join(repr(indexed_name(name)) for name in list(columns)[:50])
        raise SourceError(
            f"source {source.name}: {source.path} has no such column: {', '.join(missing)}",
            hint=f"name one of its columns in [[sources]]: {there}",
        )


def _resolve_url(source: RecordsSource, url: str | None, key: str) -> str | None:
    base = source.base_url.rstrip("/") + "/" if source.base_url else None
    if url is None:
        return base + quote(key, safe="") if base else None
    try:
        joined = urljoin(base, url) if base else url
        parse_url(joined.replace(" ", "%20"))
    except ValueError:
        return None
    return joined


def _optional(values: Mapping[str, Any], column: str | None) -> str | None:
    return (_repair(_to_text(values.get(column))).strip() or None) if column else None


def _title_of(values: Mapping[str, Any], column: str | None) -> str | None:
    """Return the title of a row; None if it has none.

    A Unix time in a date column, in seconds or milliseconds, is written as a date and time.
    """
    title = (_to_text(values.get(column)).strip() or None) if column else None
    words = _WORD.findall(column or "")
    if title is None or not words or words[-1].casefold() not in _OF_DATES:
        return title
    if not (title.isascii() and title.isdigit() and len(title) in (10, 13)):
        return title
    return datetime.fromtimestamp(int(title[:10]), UTC).isoformat()


def _split_tags(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):
            value = json.loads(value, parse_int=str, parse_float=str)
    if not isinstance(value, list):
        value = _to_text(value).replace(";", ",").split(",")
    tags = (_to_text(tag).strip() for tag in value)
    return tuple(tag for tag in tags if tag)


def _to_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _to_bytes(text: str) -> bytes:
    """Return the bytes that a text has in its file, in the original encoding."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _repair(text: str) -> str:
    """Return a short text, decoded as Windows-1252 if it was not UTF-8.

    Titles, tags and metadata are left to readers, which decode them in the charset of the text.
    """
    if _is_encodable(text):
        return text
    try:
        return text.encode("utf-8", "surrogateescape").decode("cp1252", "replace")
    except UnicodeEncodeError:
        return text


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
