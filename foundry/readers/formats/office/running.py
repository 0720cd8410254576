"""Running lines of word processors: what headers and footers say, once, without page numbers."""

import re

from foundry.documents.left_out import Omission
from foundry.readers.notes import leave_out

PAGE_NUMBER = "\x00"
"""Stands for a number of a page in the text of a running line."""
_SEGMENT = re.compile(r"[\t\n]+")


class RunningLines:
    """Keeps each text once; what counts pages is left out."""

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}

    def add(self, text: str, place: str = "") -> None:
        """Add the text of a header or footer, whose parts lines and tabs separate."""
        for line in _SEGMENT.split(text):
            shown = " ".join(line.replace(PAGE_NUMBER, " ").split())
            if PAGE_NUMBER in line or shown.casefold() in self._lines:
                leave_out(Omission.RUNNING_LINE, shown, place)
            elif shown:
                self._lines[shown.casefold()] = shown

    def __str__(self) -> str:
        return "\n".join(self._lines.values())
