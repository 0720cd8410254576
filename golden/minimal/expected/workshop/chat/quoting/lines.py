"""Reads paragraphs, items and cells as lines: without markup other than code, and without notes.

Also writes code as blocks of Markdown.
"""

import re
from collections.abc import Sequence
from html import unescape

from ...retrieval.markup import strip_marks
from ..text import keep_plain

_CODE = r"(?<!`)(?P<code>`+)(?!`).{1,400}?(?<!`)(?P=code)(?!`)"
_ENTITY_OR_SPACE = re.compile(rf"{_CODE}|&#?\w{{1,31}};|[^\S ]| {{2,}}")
# Text that looks like a citation can be a footnote mark: `It stood.[1] So they say. [2] The wall`.
# If a line contains such a mark, the `[3]` of `the wall [3] is old` is a mark too.
_MARKS = r"\[\d{1,3}\](?: ?\[\d{1,3}\])*"
_SURE_NOTE = re.compile(rf"{_CODE}|(?<=[.,;:!?]){_MARKS}|(?<=[.!?]) {_MARKS}(?= [^\Wa-z\d_]|\Z)")
_NOTE = re.compile(rf"{_CODE}|(?<=\w) {_MARKS}(?=[.,;:!?]| (?!(?:and|or|to)\b)|\Z)")
_CELL_END = re.compile(r"(?<!\\)\|")
_CALLOUT = re.compile(r"\A[ \t]*\[![A-Za-z]+\][-+]?[ \t]*")
_TASK = re.compile(r"\A[ \t]*\[[ xX]\][ \t]+(?=\S)")


def inline(text: str) -> str:
    """Return a paragraph, item or cell as one line, without markup other than code."""
    text = _TASK.sub("", _CALLOUT.sub("", text.replace("\\\n", "\n")))
    lines = strip_marks(text, keeps_code=True).split("\n")
    plain = " ".join(line.strip() for line in lines)
    return _ENTITY_OR_SPACE.sub(_read_entity, plain).strip()


def _read_entity(found: re.Match[str]) -> str:
    if found["code"]:
        return found[0]
    return unescape(found[0]) if found[0][0] == "&" else " "


def without_notes(text: str) -> str:
    """Return a line without footnote marks."""
    less = _SURE_NOTE.sub(_keep_code, text)
    return text if less == text else _NOTE.sub(_keep_code, less)


def _keep_code(found: re.Match[str]) -> str:
    return found[0] if found["code"] else ""


def without_closing(heading: str) -> str:
    """Return a heading without a closing `##`; the sign of `C#` is kept."""
    text = heading.rstrip(" \t")
    bare = text.rstrip("#")
    return text if bare[-1:].strip() else bare.rstrip(" \t")


def fence_code(text: str, info: str) -> str:
    """Return source code as Markdown, with a fenced block for each part between blank lines."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    parts = re.split(r"\n(?:[ \t]*\n)+", text.strip("\n"))
    return "\n\n".join(f"{fence}{info}\n{part}\n{fence}" for part in parts)


def cells_of(line: str) -> tuple[str, ...]:
    """Return the cells of a line of a Markdown table."""
    bare = line.strip().removeprefix("|")
    bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
    return tuple(cell.strip() for cell in _CELL_END.split(bare))


def row_of(cells: Sequence[str]) -> str:
    """Return cells as a Markdown table row."""
    escaped = (re.sub(r"(?<!\\)\|", r"\\|", keep_plain(cell)) for cell in cells)
    return f"| {' | '.join(escaped)} |"


def indent_width(line: str) -> int:
    """Return the indent of a line in columns, with tab stops at every fourth column."""
    return len(line[: len(line) - len(line.lstrip())].expandtabs(4))


def dedent(line: str, width: int) -> str:
    """Return a line without up to `width` columns of its indent."""
    at = 0
    while at < len(line) and line[at] in " \t" and width > 0:
        width -= 4 if line[at] == "\t" else 1
        at += 1
    return line[at:]
