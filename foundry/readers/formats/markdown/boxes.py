"""Converts Markdown boxes to quotations, which keep an admonition's content together."""

from collections.abc import Iterator
from dataclasses import dataclass

from foundry.readers.formats.markdown.directives import (
    COLONS,
    FENCE,
    PROSE_FENCES,
    kind_of_box,
)
from foundry.readers.formats.markdown.names import QUOTED

_BOXES = QUOTED | {"admonition"}
_SIGNS = (":::", "```{", "~~~{")


@dataclass(frozen=True, slots=True)
class _Box:
    mark: str
    kind: str
    line: int


def quote_boxes(text: str) -> str:
    """Put `> ` before each line inside `:::note` and MyST fences that end. No line is added."""
    if not any(sign in text for sign in _SIGNS):
        return text
    lines = text.split("\n")
    # Inner boxes end before outer ones, and their mark is further to the right.
    for begin, end in _find_boxes(lines):
        base = len(lines[begin]) - len(lines[begin].lstrip(" \t"))
        for number in range(begin, end):
            line = lines[number]
            place = min(base, len(line) - len(line.lstrip(" \t")))
            lines[number] = f"{line[:place]}> {line[place:]}".rstrip()
    return "\n".join(lines)


def _find_boxes(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the first line of each box, and the line of its closing mark."""
    opened, fence, limit = list[_Box](), "", 0
    for number, line in enumerate(lines):
        if mark := FENCE.match(line):
            sign, kind, rest = mark[2], mark[3] or "", mark[4]
            if fence:
                is_end = sign.startswith(fence) and not (kind or rest) and len(mark[1]) < limit
                fence = "" if is_end else fence
                continue
            if kind in PROSE_FENCES:
                opened.append(_Box(sign, kind, number))
                continue
            if kind or rest or not (opened and sign.startswith(opened[-1].mark)):
                fence, limit = sign, len(mark[1]) + 4
                continue
        elif colons := COLONS.match(line) if ":::" in line and not fence else None:
            sign = colons[0].strip(" \t>")
            sign = sign[: len(sign) - len(sign.lstrip(":"))]
            if kind := kind_of_box(colons[2], colons[5]) or (colons[5] or ""):
                opened.append(_Box(sign, kind, number))
                continue
            if not (opened and sign.startswith(opened[-1].mark)):
                continue
        else:
            continue
        box = opened.pop()
        if box.kind.lower() in _BOXES:
            yield box.line, number
