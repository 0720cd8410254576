"""Corrects brackets in right-to-left text.

Such brackets are drawn mirrored. For a mirrored `(`, some PDFs say `(` and others `)`, and PDFium
returns what the PDF says.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from foundry.readers.formats.pdf.lines import Line

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc]")
_MIRROR = str.maketrans("()[]{}<>«»\u2039\u203a", ")(][}{><»«\u203a\u2039")
_DEPTHS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def mend_brackets(lines: Sequence[Line]) -> list[Line]:
    """Return a page's lines with the intended brackets in right-to-left text.

    Brackets are mirrored if this reduces the number of lines that close an unopened bracket.
    """
    texts = [line.text for line in lines if _RIGHT_TO_LEFT.search(line.text)]
    faults = sum(map(_closes_too_early, texts))
    mirrored = sum(_closes_too_early(text.translate(_MIRROR)) for text in texts)
    return [_mirror(line) for line in lines] if mirrored < faults else list(lines)


def _closes_too_early(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += _DEPTHS.get(sign, 0)
        if depth < 0:
            return True
    return False


def _mirror(line: Line) -> Line:
    if not _RIGHT_TO_LEFT.search(line.text):
        return line
    rows = tuple(tuple(cell.translate(_MIRROR) for cell in row) for row in line.rows)
    return replace(line, text=line.text.translate(_MIRROR), rows=rows)
