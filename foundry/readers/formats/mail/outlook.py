"""Reads Outlook messages (.msg): compound files whose streams are properties ([MS-OXMSG])."""

import io
import struct
from datetime import UTC, datetime, timedelta
from typing import Any

from foundry.documents import Reading
from foundry.readers.accounting.messages import outlook_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader
from foundry.readers.dates import normalise_date
from foundry.readers.decoding import declared_charset, decode
from foundry.readers.formats import html
from foundry.readers.formats.mail.parts import add_headers, add_names
from foundry.readers.formats.rtf import reader as rtf

MAX_DEPTH = 10
_SUBJECT, _SENDER, _ADDRESS, _TO, _CC = "0037", "0C1A", "5D01", "0E04", "0E03"
_BODY, _HTML, _FILE_NAME, _LONG_NAME = "1000", "1013", "3704", "3707"
_SUBMITTED, _DELIVERED = 0x0039, 0x0E06
_PROPERTIES = "__properties_version1.0"
_EMBEDDED = "__substg1.0_3701000D"
_HEADER_BYTES, _EMBEDDED_HEADER_BYTES, _ENTRY = 32, 24, struct.Struct("<HHIQ")
_TIME = 0x0040
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_OUTLOOK_TYPE = "application/vnd.ms-outlook"


def read_outlook(content: bytes) -> Reading:
    """Read an Outlook message (.msg) with attached messages and the names of other attachments."""
    import olefile

    with olefile.OleFileIO(io.BytesIO(content)) as file:
        composer = Composer()
        sent = _add_outlook(composer, file, [])
        return composer.finish(title=_property(file, _SUBJECT), modified=normalise_date(sent))


def _add_outlook(composer: Composer, file: Any, folder: list[str]) -> str:
    """Add the message in the file, or an attached one in its folder; return when it was sent."""
    place = "".join(f"{name}/" for name in folder)
    address = _property(file, _ADDRESS, place)
    sender = (_property(file, _SENDER, place), f"<{address}>" if "@" in address else "")
    sent = _sent(file, place)
    named = {"From": " ".join(filter(None, sender)), "Date": sent}
    named |= {"To": _property(file, _TO, place), "Cc": _property(file, _CC, place)}
    add_headers(composer, named)
    _add_outlook_body(composer, file, place)
    attached: list[str] = []
    for names in file.listdir(streams=False, storages=True):
        if names[:-1] != folder or not names[-1].startswith("__attach"):
            continue
        inner = [*names, _EMBEDDED]
        if file.exists("/".join(inner)) and len(folder) < 2 * MAX_DEPTH:
            subject = _property(file, _SUBJECT, "".join(f"{name}/" for name in inner))
            composer.heading(2, subject or "Attached message")
            _add_outlook(composer, file, inner)
        else:
            own = "".join(f"{name}/" for name in names)
            name = _property(file, _LONG_NAME, own) or _property(file, _FILE_NAME, own)
            attached.append(name or "unnamed")
    add_names(composer, attached)
    return sent


def _add_outlook_body(composer: Composer, file: Any, place: str) -> None:
    """Add a message's text, or else its HTML; compressed RTF only if there is neither."""
    text = _property(file, _BODY, place)
    page = _stream(file, f"{place}__substg1.0_{_HTML}0102") or b""
    wide = _property(file, _HTML, place) if not page else ""
    if text.strip():
        composer.text(text)
    elif page or wide:
        composer.include(html.read(wide or decode(page, declared_charset(page))[0]))
    elif packed := _stream(file, f"{place}__substg1.0_10090102"):
        composer.include(rtf.read(_unpack_rtf(packed)))


_DICTIONARY = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern "
    b"\\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0"
    b"\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
"""Initial dictionary of compressed RTF ([MS-OXRTFCP])."""
MAX_RTF_BYTES = 50_000_000


def _unpack_rtf(packed: bytes) -> bytes:
    """Decompress RTF ([MS-OXRTFCP])."""
    if packed[8:12] == b"MELA":
        return packed[16:]
    window = bytearray(_DICTIONARY)
    size = min(int.from_bytes(packed[4:8], "little"), MAX_RTF_BYTES) + len(window)
    place = 16
    while place < len(packed) and len(window) < size:
        flags = packed[place]
        place += 1
        for bit in range(8):
            if flags >> bit & 1:
                token = int.from_bytes(packed[place : place + 2], "big")
                place += 2
                # The window is a ring buffer of 4,096 bytes.
                back = (len(window) - (token >> 4)) % 4_096
                if not back or back > len(window):
                    return bytes(window[len(_DICTIONARY) :])
                for _ in range((token & 15) + 2):
                    window.append(window[-back])
            elif place < len(packed):
                window.append(packed[place])
                place += 1
    return bytes(window[len(_DICTIONARY) :])


def _property(file: Any, name: str, folder: str = "") -> str:
    """Return a string property, stored in UTF-16 or the writer's code page; "" if missing."""
    wide = _stream(file, f"{folder}__substg1.0_{name}001F")
    if wide is not None:
        return wide.decode("utf-16-le", "replace").rstrip("\0")
    return decode(_stream(file, f"{folder}__substg1.0_{name}001E") or b"")[0]


def _stream(file: Any, name: str) -> bytes | None:
    return file.openstream(name).read() if file.exists(name) else None


def _sent(file: Any, folder: str) -> str:
    """Return when the message was sent, or else delivered, as an ISO 8601 date-time, if known."""
    header = _EMBEDDED_HEADER_BYTES if folder else _HEADER_BYTES
    properties = (_stream(file, f"{folder}{_PROPERTIES}") or b"")[header:]
    whole = len(properties) - len(properties) % _ENTRY.size
    entries = _ENTRY.iter_unpack(properties[:whole])
    times = {name: value for kind, name, _, value in entries if kind == _TIME}
    # The times are in units of 100 nanoseconds.
    steps = times.get(_SUBMITTED) or times.get(_DELIVERED)
    return (_EPOCH + timedelta(microseconds=steps // 10)).isoformat() if steps else ""


READER = FileReader(
    "outlook/4",
    {"Outlook message": _OUTLOOK_TYPE},
    {".msg": _OUTLOOK_TYPE},
    read_outlook,
    needs=("olefile",),
    extra="office",
    texts=outlook_texts,
)
