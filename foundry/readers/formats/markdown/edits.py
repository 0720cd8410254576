"""Collects edits of a text, which are found one kind after the other and applied at once."""

import re
from collections.abc import Callable
from itertools import pairwise

from foundry.documents.left_out import Omission
from foundry.readers.notes import leave_out

_NOT_NEWLINE = re.compile(r"[^\n]")


class Edits:
    """A text, its edits, and a `mask` for finding more of them.

    The mask has the length of the text; hidden and edited parts are blank in it, except line
    endings.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.mask = text
        self._changes: list[tuple[int, int, str, Omission | None]] = []
        self._hidden: list[tuple[int, int]] = []

    def replace(
        self, start: int, end: int, text: str, reason: Omission | None = Omission.ATTRIBUTE
    ) -> None:
        """Replace a range of the text, preserving the number of lines.

        Words of the range are recorded as left out for this reason; None if `text` has them all.
        """
        lost = self.text.count("\n", start, end) - text.count("\n")
        self._changes.append((start, end, text + "\n" * max(lost, 0), reason))
        self._hidden.append((start, end))

    def hide(self, start: int, end: int) -> None:
        """Keep a range of the text, and blank it in the mask."""
        self._hidden.append((start, end))

    def hide_all(self, pattern: re.Pattern[str]) -> None:
        """Hide every match of a pattern."""
        for match in pattern.finditer(self.mask):
            self.hide(*match.span())
        self.refresh()

    def replace_all(
        self,
        pattern: re.Pattern[str],
        make: Callable[[re.Match[str]], str | None],
        reason: Omission | None = Omission.ATTRIBUTE,
    ) -> None:
        """Replace every match of a pattern with the result of `make`; None keeps it.

        Groups of the match are parts of the mask; `self.text` also has hidden text.
        """
        for match in pattern.finditer(self.mask):
            made = make(match)
            if made is not None:
                self.replace(*match.span(), made, reason)
        self.refresh()

    def refresh(self) -> None:
        """Blank the parts of the mask that were hidden or replaced since the last call."""
        parts, position = [], 0
        for start, end in sorted(self._hidden):
            if end > position:
                start = max(start, position)
                parts += [self.mask[position:start], _blank(self.mask[start:end])]
                position = end
        self.mask = "".join([*parts, self.mask[position:]])
        self._hidden = []

    def finish(self) -> str:
        """Return the edited text; of nested edits, the outer one is applied."""
        outermost: list[tuple[int, int, str, Omission | None]] = [(0, 0, "", None)]
        for change in sorted(self._changes, key=lambda each: (each[0], -each[1])):
            if change[0] >= outermost[-1][1]:
                outermost.append(change)
                start, end, made, reason = change
                if reason and self.text[start:end] != made:
                    leave_out(reason, self.text[start:end])
        outermost.append((len(self.text), len(self.text), "", None))
        parts = [
            made + self.text[end:begin] for (_, end, made, _), (begin, *_) in pairwise(outermost)
        ]
        return "".join(parts)


def _blank(text: str) -> str:
    return _NOT_NEWLINE.sub(" ", text) if "\n" in text else " " * len(text)
