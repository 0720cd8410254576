"""Reads plain text, unchanged, with a title."""

import re

from foundry.documents import Reading
from foundry.readers.contract import Reader

MAX_TITLE_CHARS = 100
_UNDERLINE = re.compile(r"([=\-~^*#\"'+])\1{2,}[ \t]*$")
_MARK = re.compile(r"(?:#+|=+)\s+")
_SUFFIXES = (".txt", ".text", ".org", ".log", ".wiki")


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
    # A title that begins like this is a directive or a comment.
    return None if title[0] in "#=" else title


READER = Reader("text/1", dict.fromkeys(_SUFFIXES, "text/plain"), read_text)
