"""Extracts the words of mail and of Rich Text Format."""

import io
import quopri
import re
from bisect import bisect
from collections.abc import Iterator
from contextlib import suppress
from email import message_from_bytes
from email.message import Message

from foundry.readers.accounting.containers import html_texts
from foundry.readers.decoding import declared_charset, decode
from foundry.readers.formats.rtf.charsets import without_utf_8

_MAILBOX = re.compile(rb"^From \S.*\d{4}.*\n", re.MULTILINE)
_EMLX = re.compile(rb"(\d{1,10})[ \t]*\r?\n")
_PARAMETER = re.compile(r"<param>[^<]*+</param>", re.IGNORECASE)
_TAG = re.compile(r"<<|</?[A-Za-z][\w-]{0,60}>")
# Other parts are attachments, or parts of a saved page that are not text.
_READ = frozenset(("plain", "html", "enriched", "markdown", "rfc822-headers", "calendar"))


def mail_texts(content: bytes) -> Iterator[str]:
    """Yield the text parts of a message or a mailbox, without attachments."""
    content = unwrap_emlx(content)
    messages = _MAILBOX.split(content)[1:] if content.startswith(b"From ") else [content]
    for message in messages:
        for part in message_from_bytes(message).walk():
            is_text = part.get_content_maintype() == "text" and not _is_attached(part)
            if is_text and part.get_content_subtype() in _READ:
                text = _decode(part)
                if part.get_content_subtype() == "html":
                    yield from html_texts(text)
                else:
                    is_enriched = part.get_content_subtype() == "enriched"
                    yield plain_of_enriched(text) if is_enriched else text


def unwrap_emlx(content: bytes) -> bytes:
    """Return the message in an .emlx file, which begins with its length; other content as it is."""
    length = _EMLX.match(content)
    return content[length.end() :][: int(length[1])] if length else content


def plain_of_enriched(text: str) -> str:
    """Return the text of `text/enriched` without its commands (RFC 1896)."""
    return _TAG.sub(lambda tag: "<" if tag[0] == "<<" else "", _PARAMETER.sub("", text))


def _is_attached(part: Message) -> bool:
    return part.get_content_disposition() == "attachment" or bool(part.get_filename())


def _decode(part: Message) -> str:
    payload = part.get_payload(decode=True)
    content = payload if isinstance(payload, bytes) else b""
    charset = part.get_content_charset() or declared_charset(content)
    return content.decode("utf-7", "replace") if charset == "utf-7" else decode(content, charset)[0]


def calendar_texts(text: str) -> Iterator[str]:
    """Yield the lines of a calendar, unfolded and with line breaks unescaped."""
    yield re.sub(r"\n[ \t]", "", text).replace("\\n", "\n").replace("\\N", "\n")


def contact_texts(text: str) -> Iterator[str]:
    """Yield the lines of contacts, unfolded and decoded."""
    if "QUOTED-PRINTABLE" in text.upper():
        text = quopri.decodestring(text.encode()).decode("utf-8", "replace")
    yield from calendar_texts(text)


def outlook_texts(content: bytes) -> Iterator[str]:
    """Yield the plain text of an Outlook message."""
    import olefile

    with olefile.OleFileIO(io.BytesIO(content)) as file:
        if file.exists("__substg1.0_1000001F"):
            yield file.openstream("__substg1.0_1000001F").read().decode("utf-16-le", "replace")
        elif file.exists("__substg1.0_1000001E"):
            yield decode(file.openstream("__substg1.0_1000001E").read())[0]


# Destinations without text: font tables, pictures, and those that only some programs read.
_DESTINATION = re.compile(
    r"\{\s*\\(?:\*\s*\\(?!shpinst|ud\b|footnote|pn\b)|(?:fonttbl|colortbl|stylesheet|listtable"
    r"|revtbl|pict|info|themedata|fldinst|nonshppict|filetbl|sp|pntext|NeXTGraphic)\b)"
)
_BRACE = re.compile(r"\\[{}\\]|[{}]")
_CODE_PAGE = re.compile(r"\\ansicpg(\d{3,5})")
_FONT = re.compile(r"\\f(\d{1,5})(?!\d)|\\plain(?![a-z])")
_DEFAULT_FONT = re.compile(r"\\deff(\d{1,5})")
_CHARSET = re.compile(r"\\f(\d{1,5})(?!\d)[^{};]*?\\fcharset(\d{1,3})")
_PAGES = {
    128: "cp932",
    129: "cp949",
    134: "gbk",
    136: "big5",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
}
# In code pages of two bytes, the second byte of a character may be an ASCII letter.
_BYTES = re.compile(r"(?:\\'[0-9A-Fa-f]{2}|[\x80-\xff])(?:\\'[0-9A-Fa-f]{2}|[^\\{}\r\n])*")
_ESCAPED = re.compile(r"\\'([0-9A-Fa-f]{2})")
_UNICODE = re.compile(r"\\u(-?\d{1,6})[ ]?(?:\\'[0-9A-Fa-f]{2}|[^\\{}\n])?")
_BREAK = re.compile(
    r"\\(?:par|line|tab|cell|nestcell|row|nestrow|sect|page|column|footnote|emspace|enspace)"
    r"(?![a-z])-?\d*[ ]?|\\~"
)
_ENDED = re.compile(r"(\\[A-Za-z]{1,40}-?\d*)[\r\n]")
_COMMAND = re.compile(r"\\[A-Za-z]{1,40}-?\d*[ ]?|\\[^A-Za-z]|[{}]")


def rtf_texts(content: bytes) -> list[str]:
    """Return the text of RTF without commands, style tables and pictures."""
    # A line ending terminates a command, and has no other meaning.
    source = _ENDED.sub(r"\1 ", without_utf_8(content).decode("latin-1"))
    source = source.replace("\r", "").replace("\n", "")
    stated = _CODE_PAGE.search(source)
    page = f"cp{stated[1]}" if stated else "cp1252"
    charsets = {found[1]: int(found[2]) for found in _CHARSET.finditer(source)}
    text = _without_destinations(source)
    default = _DEFAULT_FONT.search(source)
    first = default[1] if default else "0"
    used = [(0, first), *((each.start(), each[1] or first) for each in _FONT.finditer(text))]
    fonts = [(place, _PAGES.get(charsets.get(font, 0), page)) for place, font in used]

    def decode_bytes(match: re.Match[str]) -> str:
        octets = _ESCAPED.sub(lambda each: chr(int(each[1], 16)), match[0]).encode("latin-1")
        place = bisect(fonts, (match.start(), ""))
        for encoding in (fonts[place - 1][1] if place else page, page):
            with suppress(LookupError, UnicodeDecodeError):
                return octets.decode(encoding)
        return octets.decode("cp1252", "replace")

    text = _BYTES.sub(decode_bytes, text)
    text = _UNICODE.sub(lambda each: chr(int(each[1]) % 0x10000), text)
    text = _COMMAND.sub("", _BREAK.sub("\n", text))
    # Characters outside the BMP are written as surrogate pairs.
    return [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")]


def _without_destinations(text: str) -> str:
    parts, position = [], 0
    while (match := _DESTINATION.search(text, position)) is not None:
        parts.append(text[position : match.start()])
        depth, position = 1, len(text)
        for brace in _BRACE.finditer(text, match.start() + 1):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if not depth:
                position = brace.end()
                break
    return "".join([*parts, text[position:]])
