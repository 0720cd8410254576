"""The visible parts of a message: headers, bodies in order, names of attachments."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from email.header import decode_header, make_header
from email.message import EmailMessage, Message, MIMEPart

from foundry.documents.left_out import Omission
from foundry.readers.accounting.messages import plain_of_enriched
from foundry.readers.accounting.words import count_words
from foundry.readers.composing import Composer
from foundry.readers.contract import UnreadableError
from foundry.readers.decoding import declared_charset, decode, normalise, normalise_line
from foundry.readers.formats import html
from foundry.readers.formats.calendar import spell_calendar
from foundry.readers.notes import leave_out, taking_notes

PAGES = frozenset(("text/html", "application/xhtml+xml"))
"""Media types of HTML."""
MAX_DEPTH = 10
"""Maximum depth of messages inside messages; deeper ones are listed as attachments."""
_MESSAGES = frozenset({"message/rfc822", "message/global", "message/news"})
_NAMED = ("From", "To", "Cc", "Date")
MAX_MISSING = 0.2
"""Share of a page's words that may be missing in the plain text that is read instead."""
_TARGET = re.compile(r"\]\([^()\s]*")
_OBSCURED = re.compile(r"^\s*\S+ at \S+\s+\(")
"""An author in Mailman's archives: `ann at example.org (Ann)`."""
_QUOTED_SEPARATOR = re.compile(r"^>(?=>*From )", re.MULTILINE)


def add_message(
    composer: Composer, message: EmailMessage, depth: int = 0, *, is_quoted: bool = False
) -> None:
    """Add a message.

    `is_quoted` removes the `>` that mailboxes put before lines that look like separators.
    """
    add_headers(composer, {name: header(message, name) or "" for name in _NAMED})
    attached: list[str] = []
    for part in _shown_parts(message):
        kind = part.get_content_type()
        if kind in _MESSAGES and depth < MAX_DEPTH:
            inner = part.get_payload()
            for each in inner if isinstance(inner, list) else ():
                assert isinstance(each, EmailMessage)
                composer.heading(2, header(each, "Subject") or "Attached message")
                add_message(composer, each, depth + 1)
        elif kind.startswith("message/") and kind not in _MESSAGES and part.is_multipart():
            # Delivery reports consist of fields.
            composer.text("\n".join(str(each).strip() for each in part.iter_parts()))
        elif _is_shown(part):
            _add_text(composer, part, kind, is_quoted=is_quoted)
        else:
            attached.append(_name_of(part))
    add_names(composer, attached)


def _shown_parts(part: MIMEPart) -> Iterator[MIMEPart]:
    """Yield parts in order; of several alternatives, only the one that is read."""
    kind = part.get_content_type()
    if kind.startswith("message/") or not part.is_multipart():
        yield part
        return
    children = [each for each in part.iter_parts() if isinstance(each, MIMEPart)]
    if kind == "multipart/alternative":
        chosen = _choose(children)
        for child in children:
            if child is chosen or child.get_content_type() == "text/calendar":
                yield from _shown_parts(child)
            else:
                _tell_alternative(child)
                yield from _attached(child)
    elif kind == "multipart/related":
        # Inline pictures contain no words.
        for child in children:
            is_picture = child.get_content_maintype() == "image"
            if not is_picture or (child.get_filename() and child.get("Content-ID") is None):
                yield from _shown_parts(child)
    else:
        for child in children:
            yield from _shown_parts(child)


def _attached(part: MIMEPart) -> Iterator[MIMEPart]:
    """Yield the attachments inside an alternative that is not read, as Apple Mail writes them."""
    for each in part.walk():
        is_file = isinstance(each, MIMEPart) and not each.is_multipart() and each.get_filename()
        if is_file and each.get_content_maintype() not in {"text", "image"}:
            yield each


def _choose(children: list[MIMEPart]) -> MIMEPart | None:
    """Return the plain text; if it is missing or incomplete, the last of the other parts."""
    plain = next((each for each in children if each.get_content_type() == "text/plain"), None)
    others = [each for each in children if each.get_content_type() != "text/calendar"]
    rich = [each for each in others if each is not plain]
    if plain is None or not rich:
        return rich[-1] if rich else plain
    text = text_of(plain)
    is_whole = _says_more(text) and not _is_excerpt(text, _shown_text(rich[-1]))
    return plain if is_whole else rich[-1]


def _is_excerpt(text: str, page: str) -> bool:
    """Return whether a plain part lacks many of the words of the page beside it."""
    words = count_words(_TARGET.sub("](", page))
    return (words - count_words(text)).total() > max(MAX_MISSING * words.total(), 5)


def _shown_text(part: MIMEPart) -> str:
    """Return the text of the HTML pages in a part."""
    texts = []
    for each in part.walk():
        if isinstance(each, MIMEPart) and each.get_content_type() == "text/html":
            with taking_notes(), suppress(UnreadableError):
                texts.append(html.read(text_of(each)).text)
    return "\n".join(texts)


def _says_more(text: str) -> bool:
    """Return whether a plain part is the message itself, not a hint to view another part."""
    said = " ".join(text.split())
    return (bool(said) and not _HINT.search(said[:300])) or len(said) > 300


_HINT = re.compile(
    r"(?:view|see|read|enable|requires?|support|display|capable|compatible)\b[^.]{0,60}\bHTML"
    r"|HTML[^.]{0,40}\b(?:view|viewer|capable|compatible|enabled|e-?mail client|mail reader)",
    re.IGNORECASE,
)


def _tell_alternative(part: MIMEPart) -> None:
    for each in part.walk():
        if isinstance(each, MIMEPart) and each.get_content_maintype() == "text":
            text = text_of(each)
            if each.get_content_type() == "text/html":
                try:
                    text = html.read(text).text
                except UnreadableError:
                    text = ""
            leave_out(Omission.DUPLICATE, text, "alternative part")


_SHOWN = frozenset(
    f"text/{name}" for name in ("plain", "html", "enriched", "markdown", "rfc822-headers")
)


def _is_shown(part: MIMEPart) -> bool:
    """Return whether mail programs show a part inside the message (RFC 2183)."""
    if part.get_content_type() == "text/calendar":
        return True
    if part.get_content_maintype() == "multipart":
        # A multipart message without its boundaries is one text.
        return True
    if part.get_content_type() not in _SHOWN:
        return False
    return part.get_content_disposition() != "attachment"


def _add_text(composer: Composer, part: MIMEPart, kind: str, *, is_quoted: bool) -> None:
    text = text_of(part)
    if is_quoted:
        text = _QUOTED_SEPARATOR.sub("", text)
    if kind == "text/html":
        composer.include(html.read(text))
    elif kind == "text/calendar":
        composer.text(spell_calendar(text), is_block=True)
    else:
        composer.text(plain_of_enriched(text) if kind == "text/enriched" else text)


def text_of(part: Message) -> str:
    """Return the decoded text of a part, with flowed lines joined."""
    payload = part.get_payload(decode=True)
    content = payload if isinstance(payload, bytes) else b""
    charset = part.get_content_charset()
    if charset is None and part.get_content_type() in PAGES:
        charset = declared_charset(content)
    if charset == "utf-7":
        # This charset would be valid UTF-8.
        return content.decode("utf-7", "replace")
    text, _ = decode(content, charset)
    if part.get_content_type() == "text/plain" and part.get_param("format") == "flowed":
        return _unfold(text, drops_space=part.get_param("delsp") == "yes")
    return text


def _name_of(part: MIMEPart) -> str:
    try:
        return part.get_filename() or part.get_content_type()
    # The library fails on some malformed headers.
    except (ValueError, IndexError, AttributeError, TypeError, LookupError):
        return "unnamed"


def header(message: EmailMessage, name: str) -> str | None:
    """Return a header decoded on one line; None if it is missing or malformed."""
    raw = next(
        (str(value) for key, value in message.raw_items() if key.lower() == name.lower()), ""
    )
    try:
        if not raw.isascii():
            # Bytes without a declared charset.
            found, _ = decode(raw.encode("utf-8", "surrogateescape"))
        elif name == "From" and _OBSCURED.search(raw):
            found = str(make_header(decode_header(raw)))
        else:
            found = str(message.get(name, ""))
        return normalise(" ".join(found.split())) or None
    # The library fails on some malformed headers.
    except (ValueError, IndexError, AttributeError, TypeError, LookupError):
        return None


def add_headers(composer: Composer, named: Mapping[str, str]) -> None:
    """Add the headers that people read."""
    lines = [f"{name}: {normalise_line(named[name], 4_000)}" for name in _NAMED if named.get(name)]
    composer.text("\n".join(lines), is_block=True)


def add_names(composer: Composer, attached: Iterable[str]) -> None:
    """Add the names of attachments."""
    names = ", ".join(normalise_line(name, 200) for name in attached)
    composer.text(f"Attachments: {names}" if names else "")


def _unfold(text: str, *, drops_space: bool) -> str:
    """Return flowed text with its lines joined into paragraphs (RFC 3676)."""
    lines: list[str] = []
    goes_on = False
    depth_before = 0
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip(">"))
        content = line[depth:].removeprefix(" ")
        if goes_on and depth == depth_before and content != "-- ":
            lines[-1] += content
        else:
            lines.append(f"{'>' * depth} {content}" if depth else content)
        goes_on = content.endswith(" ") and content != "-- "
        if goes_on and drops_space:
            lines[-1] = lines[-1][:-1]
        depth_before = depth
    return "\n".join(lines)
