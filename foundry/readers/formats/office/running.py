"""Headers and footers of word processors: each text once, without page numbers."""

import re

from foundry.documents.left_out import Omission
from foundry.readers.notes import leave_out

PAGE_NUMBER = "\x00"
"""Placeholder for page numbers in headers and footers."""
_SEGMENT = re.compile(r"[\t\n]+")
# The word before a page number, and the total after it: `Page 3 of 12`.
_PAGE = re.compile(
    r"(?<![^\W_])(?:pages?|pp?|pg|seite|p[aá]gin[ae]|p[aá]g|sid[ae]|sivu|side|stran[aý]|str[aá]nka"
    r"|strona|str|oldal|folio|blatt|sheet|slide|страница|стр|лист|第)[\W_]*$",
    re.IGNORECASE,
)
_TOTAL = re.compile(r"^\s*(?:/|[^\W\d_]{1,4})?\s*\d+(?![\w])|^\s*[页頁/]+")
_WORD = re.compile(r"[^\W\d_]{2}|[^\W\d_]\d|\d[^\W\d_]|[^\W\d_a-zA-Z]")


class RunningLines:
    """Collects distinct texts, without page numbers."""

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}

    def add(self, text: str, place: str = "") -> None:
        """Add the text of a header or footer; lines and tabs separate its parts."""
        for line in _SEGMENT.split(text):
            shown = _without_number(line)
            if PAGE_NUMBER in line:
                whole = " ".join(line.replace(PAGE_NUMBER, " ").split())
                leave_out(Omission.RUNNING_LINE, whole.replace(shown, "", 1), place)
            if shown.casefold() in self._lines:
                leave_out(Omission.RUNNING_LINE, shown, place)
            elif shown:
                self._lines[shown.casefold()] = shown

    def __str__(self) -> str:
        return "\n".join(self._lines.values())


def _without_number(line: str) -> str:
    """Return a line without page numbers and the words that belong to them."""
    first, *others = (" ".join(part.split()) for part in line.split(PAGE_NUMBER))
    if not others:
        return first
    # Text between a page number and the number of pages belongs to them.
    parts = _PAGE.sub("", first), _TOTAL.sub("", others[-1])
    shown = " ".join(
        filter(None, (part.strip(" ,;:.-\u2013\u2014|/\u00b7\u2022()[]") for part in parts))
    )
    return shown if _WORD.search(shown) else ""
