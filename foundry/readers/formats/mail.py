"""E-mail: single messages (.eml), mailboxes of them (.mbox), and Outlook's (.msg).

An Outlook message is a compound file whose streams are its properties ([MS-OXMSG], [MS-OXPROPS]).
"""

import io
import re
import struct
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.message import EmailMessage, MIMEPart
from typing import Any

from foundry.material import Reading
from foundry.material.reasons import Reason
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.dates import normalise_date
from foundry.readers.decoding import decode, normalise, normalise_line
from foundry.readers.formats import html

MAX_MESSAGES = 100_000
_NAMED = ("From", "To", "Cc", "Date")
_HEADER = re.compile(rb"(?:[!-9;-~]{1,80}:[^\n]*+\n)(?:[ \t][^\n]*+\n|[!-9;-~]{1,80}:[^\n]*+\n)*")
# A line as mailboxes have them between messages: an address and a date.
_SEPARATOR = re.compile(rb"^From \S+ +\w{3} \w{3} .*\n", re.MULTILINE)

_SUBJECT, _SENDER, _ADDRESS, _TO, _CC = "0037", "0C1A", "5D01", "0E04", "0E03"
_BODY, _HTML, _FILE_NAME = "1000", "1013", "3707"
_SUBMITTED, _DELIVERED = 0x0039, 0x0E06
_PROPERTIES = "__properties_version1.0"
_HEADER_BYTES, _ENTRY = 32, struct.Struct("<HHIQ")
_TIME = 0x0040
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_OUTLOOK_TYPE = "application/vnd.ms-outlook"


def read(content: bytes) -> Reading:
    """Read the text of every message, its headers, and the names of what is attached.

    Plain text is preferred to HTML; attachments are never opened. In a mailbox, each message has
    its subject as heading. Raises UnreadableError for a file that does not begin like a message.
    """
    composer = Composer()
    if _SEPARATOR.match(content):
        messages = _SEPARATOR.split(content)[1:]
        if len(messages) > MAX_MESSAGES:
            raise UnreadableError(Reason.TOO_MANY_MESSAGES, f"the limit is {MAX_MESSAGES}")
        for message in map(_parse, messages):
            composer.heading(1, _header(message, "Subject") or "(no subject)")
            _add_message(composer, message)
        return composer.finish(title="Mailbox")
    if not _HEADER.match(content.replace(b"\r\n", b"\n")[:100_000]):
        raise UnreadableError(Reason.NOT_A_MESSAGE)
    message = _parse(content)
    _add_message(composer, message)
    return composer.finish(
        title=_header(message, "Subject"), modified=normalise_date(_header(message, "Date"))
    )


def read_outlook(content: bytes) -> Reading:
    """Read an Outlook message as `read` does."""
    import olefile

    with olefile.OleFileIO(io.BytesIO(content)) as file:
        address = _property(file, _ADDRESS)
        sender = (_property(file, _SENDER), f"<{address}>" if "@" in address else "")
        sent = _sent(file)
        named = {"From": " ".join(filter(None, sender)), "Date": sent}
        named |= {"To": _property(file, _TO), "Cc": _property(file, _CC)}
        text = _property(file, _BODY)
        page = b"" if text else _stream(file, f"__substg1.0_{_HTML}0102") or b""
        body = text or html.read(decode(page, html.declared_charset(page))[0])
        attached = [
            _property(file, _FILE_NAME, f"{names[0]}/") or "unnamed"
            for names in file.listdir(streams=False, storages=True)
            if len(names) == 1 and names[0].startswith("__attach")
        ]
        composer = Composer()
        _add(composer, named, body, attached)
        return composer.finish(title=_property(file, _SUBJECT), modified=normalise_date(sent))


def _add(
    composer: Composer, named: Mapping[str, str], body: str | Reading, attached: Iterable[str]
) -> None:
    lines = [f"{name}: {normalise_line(named[name])}" for name in _NAMED if named.get(name)]
    composer.text("\n".join(lines), is_block=True)
    if isinstance(body, Reading):
        composer.include(body)
    else:
        composer.text(body)
    names = ", ".join(normalise_line(name, 200) for name in attached)
    composer.text(f"Attachments: {names}" if names else "")


def _parse(content: bytes) -> EmailMessage:
    # Imported when needed: it takes as long to load as all that reads Markdown.
    from email import policy

    message = message_from_bytes(content, policy=policy.default)
    assert isinstance(message, EmailMessage)
    return message


def _add_message(composer: Composer, message: EmailMessage) -> None:
    body = message.get_body(("plain", "html"))
    text = _text_of(body) if body is not None else ""
    is_page = body is not None and body.get_content_type() == "text/html"
    attached = (
        part.get_filename() or part.get_content_type() for part in message.iter_attachments()
    )
    named = {name: _header(message, name) or "" for name in _NAMED}
    _add(composer, named, html.read(text) if is_page else text, attached)


def _text_of(part: MIMEPart) -> str:
    content = part.get_payload(decode=True)
    text, _ = decode(content if isinstance(content, bytes) else b"", part.get_content_charset())
    return text


def _header(message: EmailMessage, name: str) -> str | None:
    try:
        return normalise(" ".join(str(message.get(name, "")).split())) or None
    # The library fails on some headers that are no header of their kind.
    except (ValueError, IndexError, AttributeError, TypeError):
        return None


def _property(file: Any, name: str, folder: str = "") -> str:
    """Return a property of type string: in UTF-16, or in the code page of its writer."""
    wide = _stream(file, f"{folder}__substg1.0_{name}001F")
    if wide is not None:
        return wide.decode("utf-16-le", "replace").rstrip("\0")
    return decode(_stream(file, f"{folder}__substg1.0_{name}001E") or b"")[0]


def _stream(file: Any, name: str) -> bytes | None:
    return file.openstream(name).read() if file.exists(name) else None


def _sent(file: Any) -> str:
    """Return when the message was sent, or else delivered, as an ISO 8601 date-time."""
    properties = (_stream(file, _PROPERTIES) or b"")[_HEADER_BYTES:]
    whole = len(properties) - len(properties) % _ENTRY.size
    entries = _ENTRY.iter_unpack(properties[:whole])
    times = {name: value for kind, name, _, value in entries if kind == _TIME}
    # In steps of a hundred nanoseconds.
    steps = times.get(_SUBMITTED) or times.get(_DELIVERED)
    return (_EPOCH + timedelta(microseconds=steps // 10)).isoformat() if steps else ""


READERS = (
    FileReader("mail/1", {}, {".eml": "message/rfc822", ".mbox": "application/mbox"}, read),
    FileReader(
        "outlook/1",
        {"Outlook message": _OUTLOOK_TYPE},
        {".msg": _OUTLOOK_TYPE},
        read_outlook,
        needs=("olefile",),
        extra="office",
    ),
)
