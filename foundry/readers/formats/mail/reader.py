"""Reads e-mail: single messages (.eml; .emlx of Apple Mail), and mailboxes (.mbox)."""

import re
from email import message_from_bytes
from email.message import EmailMessage

from foundry.documents import Reading
from foundry.documents.reasons import Reason
from foundry.readers.accounting.messages import mail_texts, unwrap_emlx
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.dates import normalise_date
from foundry.readers.formats.mail import outlook
from foundry.readers.formats.mail.parts import add_message, header

MAX_MESSAGES = 100_000
_HEADER = re.compile(rb"(?:[!-9;-~]{1,80}:[^\n]*+\n)(?:[ \t][^\n]*+\n|[!-9;-~]{1,80}:[^\n]*+\n)*")
# A separator line of mailboxes: an address, which Mailman obscures, and a date.
_SEPARATOR = re.compile(
    rb"^From (?:\S+|\S+ (?:at|--at--) \S+|\"[^\"\n]*\"\S*|-) +\w{3},? +\w{3} .*\n"
    rb"|^From \S+ +(?:\w{3} \w{3} |\d{4}-\d\d-\d\d[T ]).*\n",
    re.MULTILINE,
)


def read(content: bytes) -> Reading:
    """Read the visible parts of each message, its headers, and the names of attachments.

    Of several alternatives, plain text is preferred to HTML, unless it is empty, is only an excerpt
    or only refers to another part. Nested messages are read; other attachments are never opened. In
    a mailbox, each message has its subject as a heading. Raises UnreadableError for a file that
    does not begin like a message, or has more than MAX_MESSAGES.
    """
    composer = Composer()
    content = unwrap_emlx(content)
    if _SEPARATOR.match(content):
        messages = _split(content)
        for message in map(_parse, messages):
            composer.heading(1, header(message, "Subject") or "(no subject)")
            add_message(composer, message, is_quoted=True)
        return composer.finish(title="Mailbox")
    if not _HEADER.match(content.replace(b"\r\n", b"\n")[:100_000]):
        raise UnreadableError(Reason.NOT_A_MESSAGE)
    message = _parse(content)
    add_message(composer, message)
    return composer.finish(
        title=header(message, "Subject"), modified=normalise_date(header(message, "Date"))
    )


def _split(content: bytes) -> list[bytes]:
    """Return the messages of a mailbox; a line that only looks like a separator is text.

    Raises UnreadableError if there are more than MAX_MESSAGES.
    """
    starts = [
        match
        for match in _SEPARATOR.finditer(content)
        # A separator is followed by headers; not all programs quote such lines within a message.
        if _HEADER.match(content, match.end()) or content[match.end() : match.end() + 1] == b">"
    ]
    if len(starts) > MAX_MESSAGES:
        raise UnreadableError(Reason.TOO_MANY_MESSAGES, f"the limit is {MAX_MESSAGES}")
    ends = [*(match.start() for match in starts[1:]), len(content)]
    return [content[match.end() : end] for match, end in zip(starts, ends, strict=True)]


def _parse(content: bytes) -> EmailMessage:
    # Imported when needed: it takes as long to load as everything for Markdown.
    from email import policy

    message = message_from_bytes(content, policy=policy.default)
    assert isinstance(message, EmailMessage)
    return message


READERS = (
    FileReader(
        "mail/5",
        {},
        {".eml": "message/rfc822", ".emlx": "message/rfc822", ".mbox": "application/mbox"},
        read,
        texts=mail_texts,
    ),
    outlook.READER,
)
