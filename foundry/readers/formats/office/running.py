"""Headers and footers of word processors: each text once, without page numbers."""

import re

from foundry.documents.left_out import Omission
from foundry.readers.notes import leave_out

PAGE_NUMBER = "\x00"
"""Placeholder for page numbers in headers and footers."""
_SEGMENT = re.compile(r"[\t\n]+")


class RunningLines:
    """Collects distinct texts, without page numbers."""

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}

    def add(self, text: str, place: str = "") -> None:
        """Add the text of a header or footer; lines and tabs separate its parts."""
        for line in _SEGMENT.split(text):
            shown = " ".join(line.replace(PAGE_NUMBER, " ").split())
            if PAGE_NUMBER in line or shown.casefold() in self._lines:
                leave_out(Omission.RUNNING_LINE, shown, place)
            elif shown:
                self._lines[shown.casefold()] = shown

    def __str__(self) -> str:
        return "\n".join(self._lines.values())
