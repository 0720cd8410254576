"""Removes a document type from XML, and fills in the entities that it declares.

Nothing is opened: an entity in another file becomes the name of the file, and parameter entities
are ignored. The length of the result is bounded.
"""

import re
from html.entities import html5
from xml.sax.saxutils import escape

from foundry.documents.reasons import Reason
from foundry.readers.contract import UnreadableError

MAX_PROLOG = 10_000
MAX_DEPTH = 5
"""Maximum nesting depth of entities."""
MAX_FILLED = 1_000_000
"""Maximum number of bytes by which entities may lengthen a document."""

_START = re.compile(rb"<!DOCTYPE\s[^\[\]<>]{1,2000}+")
_END = re.compile(rb"\]?\s*>")
_LITERAL = rb"(?:\"[^\"]*+\"|'[^']*+')"
_DECLARATION = re.compile(
    rb"\s++|%[\w:.-]{1,100};|<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)"
    rb"|<!ENTITY\s+(?P<name>[\w:.-]{1,100}+)\s+(?P<outside>SYSTEM\s+|PUBLIC\s+"
    + _LITERAL
    + rb"\s+)?(?P<value>"
    + _LITERAL
    + rb")[^<>\"']*+>"
    rb"|<![A-Z]+\s(?:[^<>\"']++|" + _LITERAL + rb")*+>",
    re.DOTALL,
)
# Entities are not replaced in comments and CDATA.
_REFERENCE = re.compile(
    rb"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?P<name>[A-Za-z_][\w:.-]{0,100});", re.DOTALL
)
_OF_XML = frozenset((b"amp", b"lt", b"gt", b"quot", b"apos"))


def without_doctype(content: bytes) -> bytes:
    """Return XML without its document type, and with as many lines.

    Named characters are replaced as in HTML, whose names vocabularies of prose share, and unknown
    entities stay as text. Raises UnreadableError if entities are nested too deeply or too long.
    """
    start = _START.search(content, 0, MAX_PROLOG)
    if start is None:
        return content
    entities: dict[bytes, bytes] = {}
    place = start.end()
    if content[place : place + 1] == b"[":
        place += 1
        while found := _DECLARATION.match(content, place):
            place = found.end()
            if found["name"]:
                # The first declaration counts.
                value = found["value"][1:-1]
                entities.setdefault(found["name"], _named(value) if found["outside"] else value)
    end = _END.match(content, place)
    if end is None:
        return content
    blank = b"\n" * content.count(b"\n", start.start(), end.end())
    return _fill(content[: start.start()] + blank + content[end.end() :], entities)


def _named(path: bytes) -> bytes:
    return escape(path.decode("utf-8", "replace")).encode("ascii", "xmlcharrefreplace")


def _fill(content: bytes, entities: dict[bytes, bytes]) -> bytes:
    """Replace the references to entities, also in the values of entities."""

    def value_of(found: re.Match[bytes]) -> bytes:
        name = found["name"]
        if name is None or name in _OF_XML:
            return found[0]
        if name in entities:
            return entities[name]
        signs = html5.get(f"{name.decode()};")
        # The declaration may name any encoding, so the parser gets the bytes.
        return _numbers(signs) if signs else b"&amp;" + found[0][1:]

    limit = len(content) + MAX_FILLED
    for _ in range(MAX_DEPTH):
        used = (entities.get(found["name"] or b"", b"") for found in _REFERENCE.finditer(content))
        if len(content) + sum(map(len, used)) > limit:
            break
        filled = _REFERENCE.sub(value_of, content)
        if filled == content:
            return content
        content = filled
    raise UnreadableError(Reason.HOLDS_DTD, "its entities are nested too deeply or too long")


def _numbers(signs: str) -> bytes:
    return "".join(f"&#{ord(sign)};" for sign in signs).encode()
