"""Reads bytes as documents; the content decides the format first, then the name."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice

from foundry.documents import Document, RawDocument, Reading, Skipped
from foundry.documents.left_out import LeftOut, Omission
from foundry.documents.reasons import AnyReason, Reason, needs_extra, unsupported
from foundry.documents.secrets import find_secrets
from foundry.readers.accounting.words import account
from foundry.readers.allowance import allowing_pictures
from foundry.readers.charsets import guess_charset
from foundry.readers.contract import FileReader, Reader, UnreadableError
from foundry.readers.dates import normalise_date
from foundry.readers.decoding import declared_charset, decode, normalise, normalise_line
from foundry.readers.notes import taking_notes
from foundry.readers.registry import choose, find_by_kind, find_by_name
from foundry.readers.sniffing import PICTURES, binary_kind, document_kind
from foundry.readers.titles import derive_title, title_from, with_plain_dates

_WORD = re.compile(r"[^\W_]")
# Bytes of file names that are not UTF-8, as Python represents them.
_ESCAPED = re.compile("[\udc80-\udcff]")
SCAN = "scan"
"""Tag of documents with some text that was read from pictures."""
MAX_UNACCOUNTED = 1_000
"""Unaccounted words per document that are kept for display; all are counted."""
MAX_OUTLINED_CHARS = 10_000_000
"""Longer source files are read as plain text, without an outline."""


def reads_apart(raw: RawDocument) -> bool:
    """Return whether a document's format is only read in worker processes."""
    reader, _ = find_by_kind(raw) or choose(raw)
    return isinstance(reader, FileReader) or reader.outline is not None


def read(raw: RawDocument, *, is_worker: bool = False) -> Document | Skipped:
    """Convert bytes to a document with normalised text, structure and metadata.

    Never raises for any content: what cannot be read is Skipped, with the reason. Parsers of
    untrusted formats (see `reads_apart`) only run in worker processes, and raise ValueError
    elsewhere.
    """
    if not raw.content:
        return _skip(raw, Reason.EMPTY)
    found = find_by_kind(raw)
    problem = None if found else _refuse(raw)
    if problem:
        return problem
    reader, media_type = found or choose(raw)
    if isinstance(reader, FileReader):
        if found is None and reader.kinds:
            return _skip(raw, Reason.NOT_AS_NAMED)
        if not reader.is_installed():
            return _skip(raw, needs_extra(reader.extra))
    replaced = 0
    try:
        pages = raw.ocr_pages if raw.ocr else 0
        with taking_notes() as notes, allowing_pictures(pages) as allowance:
            if isinstance(reader, Reader):
                charset = raw.charset
                if charset is None and media_type == "text/html":
                    charset = declared_charset(raw.content)
                text, replaced = decode(raw.content, charset)
                reading = reader.read(text)
                source = reader.texts(text)
            else:
                reading = _parse(reader, raw.content, is_worker=is_worker)
                texts = () if reader.texts is None else reader.texts(raw.content)
                source = chain(notes.source, texts)
        hidden, guessed = tuple(notes.hidden.values()), tuple(sorted(notes.guessed))
        front = reading.text[: reading.body_start]
        left_out = (
            *notes.left_out,
            *([LeftOut(Omission.METADATA, front)] if front else ()),
            *(LeftOut(Omission.COLUMN, text, name) for name, text in raw.unread.items()),
        )
        words, unaccounted = account(
            chain(source, raw.unread.values()),
            _said(reading),
            left_out,
            with_targets=reader.with_targets,
        )
        reading = replace(
            reading,
            left_out=left_out,
            unaccounted=tuple(islice(unaccounted.elements(), MAX_UNACCOUNTED)),
            words=words,
            hidden=hidden,
            guessed=guessed,
            damaged=tuple(notes.damaged),
            looked_at=allowance.read,
            unseen=allowance.unread,
            is_hurried=allowance.is_late,
        )
        if isinstance(reader, Reader) and reader.outline is not None:
            reading = _outline(reader.outline, reading, is_worker=is_worker)
    except UnreadableError as error:
        return _too_late(raw) if allowance.is_late else _skip(raw, error.reason, error.detail)
    except (RecursionError, MemoryError) as error:
        return _skip(raw, Reason.TOO_MUCH, type(error).__name__)
    if not _WORD.search(reading.text, reading.body_start):
        return _too_late(raw) if allowance.is_late else _skip(raw, Reason.NO_TEXT)
    return _assemble(raw, reader, media_type, reading, replaced)


def _said(reading: Reading) -> Iterator[str]:
    """Yield all texts of a reading, including title and metadata."""
    yield reading.text[reading.body_start :]
    yield from (reading.title or "", reading.modified or "", reading.language or "")
    yield from (*reading.tags, *reading.aliases, *reading.metadata.values())


def _parse(parser: FileReader, content: bytes, *, is_worker: bool) -> Reading:
    if not is_worker:
        raise ValueError(f"{parser.version}: only runs in worker processes")
    try:
        return parser.read(content)
    except (UnreadableError, RecursionError, MemoryError):
        raise
    except Exception as error:
        # A library may raise any error on damaged input, and its message may quote the document.
        raise UnreadableError(Reason.DAMAGED, type(error).__name__) from None


def _outline(parser: FileReader, reading: Reading, *, is_worker: bool) -> Reading:
    """Return the reading with a parser's headings and blocks, or unchanged if the parser fails."""
    if len(reading.text) > MAX_OUTLINED_CHARS:
        return reading
    if not parser.is_installed():
        return replace(reading, lacking=parser.extra)
    try:
        outlined = _parse(parser, reading.text.encode(), is_worker=is_worker)
    except (UnreadableError, RecursionError, MemoryError):
        return reading
    if outlined.text != reading.text:
        return reading
    return replace(reading, headings=outlined.headings, blocks=outlined.blocks)


def _refuse(raw: RawDocument) -> Skipped | None:
    """Return why bytes that no reader claims are not read as text; None if they are."""
    document = document_kind(raw.content)
    kind = document or binary_kind(raw.content)
    if kind is None:
        return None
    if kind == "private key":
        return _skip(raw, Reason.PRIVATE_KEY)
    if kind == "encrypted Office":
        return _skip(raw, Reason.ENCRYPTED)
    if raw.media_type or find_by_name(raw.path):
        return _skip(raw, Reason.NOT_AS_NAMED, kind)
    if document:
        return _skip(raw, unsupported(document))
    if kind == "SQLite database":
        return _skip(raw, Reason.DATABASE, kind)
    return _skip(raw, Reason.PICTURE if kind in PICTURES else Reason.NOT_TEXT, kind)


def _assemble(
    raw: RawDocument,
    reader: Reader | FileReader,
    media_type: str,
    reading: Reading,
    replaced: int,
) -> Document:
    identifier, source, size, digest, path = identity_of(raw)
    guessed = next(iter(reading.guessed), "")
    tags = {normalise_line(_mend(tag, guessed), 100) for tag in (*raw.tags, *reading.tags)}
    if reading.seen:
        tags.add(SCAN)
    title = normalise_line(_mend(raw.title or "", guessed)) or normalise_line(reading.title or "")
    if not title and raw.id:
        title = normalise_line(derive_title(reading))
    return Document(
        id=identifier,
        source=source,
        path=path,
        url=normalise_line(raw.url, 4_096) if raw.url else None,
        title=with_plain_dates(title or normalise_line(raw.id or "") or title_from(path, reader)),
        media_type=media_type,
        reader=reader.version,
        sha256=digest,
        bytes=size,
        replaced=replaced,
        tags=tuple(sorted(tags - {""})),
        modified=(
            normalise_date(raw.modified)
            or normalise_date(reading.modified)
            or normalise_date(raw.modified_elsewhere)
        ),
        metadata=_merge_metadata(raw, reading),
        reading=reading,
        findings=find_secrets(reading.text),
    )


def _mend(text: str, charset: str) -> str:
    """Decode the bytes in a source's text that are not UTF-8, by the charset of the content."""
    if text.isascii() or not _ESCAPED.search(text):
        return text
    try:
        content = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text
    return content.decode(charset or guess_charset(content), "replace")


def _merge_metadata(raw: RawDocument, reading: Reading) -> dict[str, str]:
    stated = {"language": reading.language} if reading.language else {}
    if reading.seen:
        stated["scanned_pages"] = _list_pages(reading.seen)
    licence = reading.metadata.get("licence") or reading.metadata.get("license")
    if licence:
        stated["licence"] = licence
    taken = {name: reading.metadata[name] for name in raw.metadata_keys if name in reading.metadata}
    guessed = next(iter(reading.guessed), "")
    own = {name: _mend(value, guessed) for name, value in raw.metadata.items()}
    metadata = {**stated, **taken, **own}
    return {normalise_line(name): normalise(value) for name, value in metadata.items()}


def _list_pages(numbers: Sequence[int]) -> str:
    """Return ascending numbers as ranges: `1-3, 7`."""
    # Consecutive numbers differ from their positions by the same amount.
    runs = groupby(enumerate(numbers), lambda each: each[1] - each[0])
    found = ([number for _, number in run] for _, run in runs)
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in found)


def make_id(raw: RawDocument) -> str:
    """Return an id for a document without one, from source and key."""
    key = raw.key.encode("utf-8", "surrogateescape")
    return hashlib.sha256(raw.source.encode() + b"\0" + key).hexdigest()[:16]


def identity_of(raw: RawDocument) -> tuple[str, str, int, str, str]:
    """Return the id, source, bytes, SHA-256 and path of the document that is read from `raw`."""
    digest = hashlib.sha256(raw.content).hexdigest()
    path = normalise_line(raw.path, 4_096)
    return raw.id or make_id(raw), raw.source, len(raw.content), digest, path


def _too_late(raw: RawDocument) -> Skipped:
    return _skip(raw, Reason.TOO_MUCH, "processor time")


def _skip(raw: RawDocument, reason: AnyReason, detail: str = "") -> Skipped:
    return Skipped(source=raw.source, path=raw.path, reason=reason, detail=detail)
