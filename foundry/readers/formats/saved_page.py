"""Reads MHTML: a saved page with its resources, as a multipart message."""

from email import message_from_bytes, policy

from foundry.documents import Reading
from foundry.documents.reasons import Reason
from foundry.readers.accounting.messages import mail_texts
from foundry.readers.composing import Composer
from foundry.readers.contract import FileReader, UnreadableError
from foundry.readers.dates import normalise_date
from foundry.readers.formats import html
from foundry.readers.formats.mail.parts import PAGES, text_of

MAX_PAGES = 100


def read(content: bytes) -> Reading:
    """Read the page and its frames; pictures and styles are ignored.

    Raises UnreadableError if the message contains no page.
    """
    message = message_from_bytes(content, policy=policy.compat32)
    pages = [part for part in message.walk() if part.get_content_type() in PAGES][:MAX_PAGES]
    if not pages:
        raise UnreadableError(Reason.NO_TEXT)
    composer = Composer()
    readings = [html.read(text_of(part)) for part in pages]
    for reading in readings:
        composer.include(reading)
    modified = readings[0].modified or normalise_date(message.get("Date"))
    return composer.finish(title=readings[0].title, modified=modified)


_TYPE = "multipart/related"
READER = FileReader("mhtml/4", {}, {".mhtml": _TYPE, ".mht": _TYPE}, read, texts=mail_texts)
