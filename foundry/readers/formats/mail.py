"""E-mail: single messages (.eml) and mailboxes of them (.mbox)."""

import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart

from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.dates import normalise_date
from foundry.readers.decoding import decode, normalise, normalise_line
from foundry.readers.formats import html
from foundry.records import Reading

MAX_MESSAGES = 100_000
_NAMED = ("From", "To", "Cc", "Date")
_HEADER = re.compile(rb"(?:[!-9;-~]{1,80}:[^\n]*+\n)(?:[ \t][^\n]*+\n|[!-9;-~]{1,80}:[^\n]*+\n)*")
# A line as mailboxes have them between messages: an address and a date.
_SEPARATOR = re.compile(rb"^From \S+ +\w{3} \w{3} .*\n", re.MULTILINE)


def read(content: bytes) -> Reading:
    """Read the text of every message, its headers, and the names of what is attached.

    Plain text is preferred to HTML; attachments are never opened. In a mailbox, each message has
    its subject as heading. Raises UnreadableError for what does not begin as a message.
    """
    composer = Composer()
    if _SEPARATOR.match(content):
        starts = list(_SEPARATOR.finditer(content))
        if len(starts) > MAX_MESSAGES:
            raise UnreadableError("too many messages", f"the limit is {MAX_MESSAGES}")
        ends = [*(match.start() for match in starts[1:]), len(content)]
        for match, end in zip(starts, ends, strict=True):
            message = _parse(content[match.end() : end])
            composer.heading(1, _header(message, "Subject") or "(no subject)")
            _add_message(composer, message)
        return composer.finish(title="Mailbox")
    if not _HEADER.match(content.replace(b"\r\n", b"\n")[:100_000]):
        raise UnreadableError("not a message")
    message = _parse(content)
    _add_message(composer, message)
    return composer.finish(
        title=_header(message, "Subject"), modified=normalise_date(_header(message, "Date"))
    )


def _parse(content: bytes) -> EmailMessage:
    message = message_from_bytes(content, policy=policy.default)
    assert isinstance(message, EmailMessage)
    return message


def _add_message(composer: Composer, message: EmailMessage) -> None:
    named = [f"{name}: {value}" for name in _NAMED if (value := _header(message, name))]
    composer.text("\n".join(named), is_block=True)
    body = message.get_body(("plain", "html"))
    if body is not None:
        text = _text_of(body)
        if body.get_content_type() == "text/html":
            composer.include(html.read(text))
        else:
            composer.text(text)
    attached = [normalise_line(name, 200) for name in _attachments(message)]
    composer.text("Attachments: " + ", ".join(attached) if attached else "")


def _attachments(message: EmailMessage) -> Iterator[str]:
    for part in message.iter_attachments():
        yield part.get_filename() or part.get_content_type()


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


READER = FileReader("mail/1", {}, {".eml": "message/rfc822", ".mbox": "application/mbox"}, read)
