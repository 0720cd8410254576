"""Outlook's .msg: one message, from the streams of its compound file ([MS-OXMSG], [MS-OXPROPS])."""

import io
import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader
from foundry.readers.dates import normalise_date
from foundry.readers.decoding import decode, normalise_line
from foundry.readers.formats import html
from foundry.records import Reading

_SUBJECT, _SENDER, _ADDRESS, _TO, _CC = "0037", "0C1A", "5D01", "0E04", "0E03"
_BODY, _HTML, _FILE_NAME = "1000", "1013", "3707"
_SUBMITTED, _DELIVERED = 0x0039, 0x0E06
_PROPERTIES = "__properties_version1.0"
_HEADER_BYTES, _ENTRY = 32, struct.Struct("<HHIQ")
_TIME = 0x0040
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_TYPE = "application/vnd.ms-outlook"


def read(content: bytes) -> Reading:
    """Read a message's headers, its text, and the names of what is attached to it.

    Plain text is preferred to HTML; attachments are never opened.
    """
    import olefile

    with olefile.OleFileIO(io.BytesIO(content)) as file:
        composer = Composer()
        sender = " ".join(filter(None, (_text(file, _SENDER), _bracketed(_text(file, _ADDRESS)))))
        sent = _read_time(file)
        named = {"From": sender, "To": _text(file, _TO), "Cc": _text(file, _CC), "Date": sent}
        lines = (f"{name}: {normalise_line(value)}" for name, value in named.items() if value)
        composer.text("\n".join(lines), is_block=True)
        body = _text(file, _BODY)
        if body:
            composer.text(body)
        else:
            page = _stream(file, f"__substg1.0_{_HTML}0102") or b""
            composer.include(html.read(decode(page, html.declared_charset(page))[0]))
        attached = [normalise_line(name, 200) for name in _attachments(file)]
        composer.text("Attachments: " + ", ".join(attached) if attached else "")
        return composer.finish(title=_text(file, _SUBJECT), modified=normalise_date(sent))


def _text(file: Any, name: str, folder: str = "") -> str:
    """A property of type string: in UTF-16, or in the code page of whoever wrote it."""
    wide = _stream(file, f"{folder}__substg1.0_{name}001F")
    if wide is not None:
        return wide.decode("utf-16-le", "replace").rstrip("\0")
    return decode(_stream(file, f"{folder}__substg1.0_{name}001E") or b"")[0]


def _stream(file: Any, name: str) -> bytes | None:
    if not file.exists(name):
        return None
    with file.openstream(name) as stream:
        content: bytes = stream.read()
    return content


def _attachments(file: Any) -> Iterator[str]:
    for entry in file.listdir(streams=False, storages=True):
        if len(entry) == 1 and entry[0].startswith("__attach"):
            yield _text(file, _FILE_NAME, f"{entry[0]}/") or "unnamed"


def _read_time(file: Any) -> str:
    """Return when the message was sent, or else delivered, as an ISO 8601 date-time."""
    properties = (_stream(file, _PROPERTIES) or b"")[_HEADER_BYTES:]
    whole = len(properties) - len(properties) % _ENTRY.size
    times = {
        name: value
        for kind, name, _, value in _ENTRY.iter_unpack(properties[:whole])
        if kind == _TIME
    }
    # In steps of a hundred nanoseconds.
    steps = times.get(_SUBMITTED) or times.get(_DELIVERED)
    return (_EPOCH + timedelta(microseconds=steps // 10)).isoformat() if steps else ""


def _bracketed(address: str) -> str:
    return f"<{address}>" if "@" in address else ""


READER = FileReader(
    "outlook/1", {"Outlook message": _TYPE}, {".msg": _TYPE}, read, ("olefile",), "office"
)
