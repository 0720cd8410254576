"""Plain text and AsciiDoc: kept as it was written, with a title, and the sections of AsciiDoc."""

import re

from foundry.readers.contract import Reader
from foundry.readers.dates import normalise_date
from foundry.readers.formats.markdown_links import find_links
from foundry.records import Heading, Link, Reading, Span

MAX_TITLE_CHARS = 100
_UNDERLINE = re.compile(r"([=\-~^*#\"'+])\1{2,}[ \t]*$")
_MARK = re.compile(r"(?:#+|=+)\s+")
_SUFFIXES = (".txt", ".text", ".org", ".log", ".wiki")
_LINE = re.compile(
    r"^(?:(?P<marks>={1,6})[ \t]+(?P<title>\S[^\n]{0,500})"
    r"|(?P<fence>-{4,}|\.{4,}|\+{4,}|/{4,}|={4,}|\*{4,}|_{4,}|```|\|===|--)[ \t]*)$",
    re.MULTILINE,
)
_ATTRIBUTE = re.compile(r"^:(revdate|docdate|lang):[ \t]+([^\n]{1,60})$", re.MULTILINE)
_LINK = re.compile(r"\b(?:link|xref):([^\s\[\]]{1,500}+)\[([^\]\n]{0,300})\]")
# What stands between these is read as text, and may have sections.
_OPEN_BLOCKS = ("====", "****", "____", "--")


def read_text(text: str) -> Reading:
    """Read plain text; a short first line above a blank line or an underline is the title."""
    return Reading(text=text, title=_find_title(text))


def _find_title(text: str) -> str | None:
    lines = text[:4_000].strip("\n").split("\n", 3)
    if _UNDERLINE.match(lines[0]) and len(lines) > 2 and _UNDERLINE.match(lines[2]):
        del lines[0]
    if len(lines) < 2 or not 0 < len(lines[0].strip()) <= MAX_TITLE_CHARS:
        return None
    if lines[1].strip() and not _UNDERLINE.match(lines[1]):
        return None
    title = lines[0].strip()
    marked = _MARK.match(title)
    if marked is not None:
        return title[marked.end() :] or None
    # Else it is a directive of some language, or its comment.
    return None if title[0] in "#=" else title


def read_asciidoc(text: str) -> Reading:
    """Read a document; listings, tables and other delimited blocks stay whole."""
    headings: list[Heading] = []
    blocks: list[Span] = []
    opened: re.Match[str] | None = None
    for match in _LINE.finditer(text):
        if opened is not None:
            if match["fence"] == opened["fence"]:
                blocks.append(Span(opened.start(), match.end()))
                opened = None
        elif match["title"]:
            title = match["title"].strip().rstrip("=").strip()
            headings.append(Heading(len(match["marks"]), title, *match.span()))
        elif not match["fence"].startswith(_OPEN_BLOCKS) or match["fence"].startswith("----"):
            opened = match
    attributes = dict(_ATTRIBUTE.findall(text[:10_000]))
    own_links = [Link(match[1], match[2], "inline") for match in _LINK.finditer(text)]
    return Reading(
        text=text,
        title=next((heading.text for heading in headings if heading.level == 1), None),
        headings=tuple(headings),
        blocks=tuple(blocks),
        links=tuple(dict.fromkeys((*own_links, *find_links(text, {})))),
        modified=normalise_date(attributes.get("revdate") or attributes.get("docdate")),
        language=attributes.get("lang"),
    )


READER = Reader("text/1", dict.fromkeys(_SUFFIXES, "text/plain"), read_text)
ASCIIDOC_READER = Reader(
    "asciidoc/1", dict.fromkeys((".adoc", ".asciidoc"), "text/asciidoc"), read_asciidoc
)
