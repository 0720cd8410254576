"""MyST: fenced directives, roles, labels and comments, as in Sphinx and Jupyter Book.

Line numbers do not change. Unknown directives stay code, since R Markdown and Quarto write
executable code in the same way.
"""

import re
from dataclasses import dataclass
from itertools import groupby

from foundry.documents.left_out import Omission
from foundry.readers.formats.markdown.directives import PROSE_FENCES
from foundry.readers.formats.markdown.included import link_to_file
from foundry.readers.formats.markdown.roles import write_roles
from foundry.readers.formats.markdown.tables.rows import CODE, TableRows
from foundry.readers.formats.pages.blocks import anchor_of, picture
from foundry.readers.formats.rst.as_myst import rewrite_rst
from foundry.readers.formats.rst.names import OBJECTS
from foundry.readers.notes import leave_out

_IS_MYST = re.compile(
    r"(?m)^[ \t]*(?:`{3,}|~{3,}|:{3,})\{(?:[a-z]+:)?[a-z-]+\}|\{[a-z][\w:.+-]{1,30}\}`[^`]+`"
    r"|^\([\w:./ -]{1,100}\)=$"
)
# Tested first, because most texts do not use MyST.
_SIGNS = ("```{", "~~~{", ":::{", "}`", ")=\n")
_OPENING = re.compile(r"([ \t>]*)(`{3,}|~{3,}|:{3,})\{([\w:.+-]{1,40})\}[ \t]*(.*)$")
_CLOSING = re.compile(r"[ \t>]*(`{3,}|~{3,}|:{3,})[ \t]*$")
_PLAIN_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})(?!\{)")
_OPTION = re.compile(r"[ \t>]*:([\w-]{1,40}):(?:[ \t]+(.*))?$")
_LABEL = re.compile(r"[ \t]*\(([\w:./ -]{1,100})\)=[ \t]*$")
_TITLED = re.compile(
    r"(?m)^(?:\(([\w:./ -]{1,100})\)=[ \t]*\n(?:[ \t]*\n){0,2})?"
    r"#{1,6}[ \t]+([^\n`*\[\]{}]{1,200}?)[ \t#]*$"
)
_REFERENCE = re.compile(r"\{(?:std:)?ref\}`([^`<>\n]{1,100})`|\[\]\(#([^()\s]{1,100})\)")
_COMMENT = re.compile(r"%(?!%)(.*)$")
_BREAK = re.compile(r"\+\+\+(?:[ \t].*)?$")
# The line between the header of a card and its content.
_SEPARATOR = re.compile(r"[ \t>]*\^{3,}[ \t]*$")

_NAVIGATION = frozenset("toctree tableofcontents contents bibliography index".split())
_INCLUDING = frozenset(("include", "literalinclude"))
_OUTSIDE = _INCLUDING | {"raw"}
_PROSE = frozenset(
    "image figure figure-md glossary epigraph pull-quote margin sidebar topic card grid grid-item"
    " grid-item-card card-carousel button-link button-ref tab-set-code table rubric"
    " eval-rst exercise-start exercise-end solution-start solution-end output deprecated"
    " versionadded versionchanged only container div".split()
)
_OBJECTS = OBJECTS - {"data", "event", "module", "object", "var"}
"""Documented objects, without names that are also languages or blocks of other projects."""
_SHOWN_OPTIONS = frozenset(("caption", "alt", "title"))
_OBJECT_OPTIONS = frozenset(("type", "value", "default"))
_CARDS = frozenset(("card", "grid-item-card"))
_CALLED = {
    **{name: name.capitalize() for name in "exercise solution theorem lemma proof axiom".split()},
    **{name: name.capitalize() for name in "definition corollary remark conjecture".split()},
    **{name: name.capitalize() for name in "algorithm criterion proposition observation".split()},
    **{"versionadded": "Added in version", "versionchanged": "Changed in version"},
    **{"deprecated": "Deprecated since version", "property": "Property", "example": "Example"},
}


@dataclass
class _Fence:
    mark: str
    kind: str
    in_options: bool = True
    in_yaml: bool = False
    language: str = ""
    picture: str = ""
    line: int = 0


class _Opener:
    def __init__(self, text: str) -> None:
        # The titles of sections by the labels above them, and by their anchors.
        self._titles = {
            name: title
            for label, title in _TITLED.findall(text)
            for name in (label, anchor_of(title))
            if name
        }
        self.lines: list[str] = []
        self._fences: list[_Fence] = []
        self._code = ""
        self._table = TableRows(self.lines)
        self._prose_lines: list[int] = []

    def take(self, line: str) -> None:
        """Convert the next line."""
        if self._code:
            self.lines.append(line)
            self._code = "" if _closes(line, self._code) else self._code
            return
        top = self._fences[-1] if self._fences else None
        if top and top.kind == "code" and not top.in_options:
            self._end(line) if _closes(line, top.mark) else self.lines.append(line)
        elif top and _closes(line, top.mark):
            self._end(line)
        elif top and top.in_options and self._option(top, line):
            pass
        elif top and top.kind in {"code", "math"} and top.in_options:
            self._first(top, line)
        elif top and top.kind in {"left out", "navigation"}:
            leave_out(Omission.NAVIGATION, line)
            self.lines.append("")
        elif top and top.kind == "list-table":
            self._table.take_row(line)
        elif top and top.kind == "csv-table":
            self._table.take_record(line)
        elif opening := _OPENING.match(line):
            self._open(opening, line)
        elif plain := _PLAIN_FENCE.match(line):
            self._code = plain[1]
            self.lines.append(line)
        else:
            self._prose(line)

    def _open(self, opening: re.Match[str], line: str) -> None:
        before, mark, name, rest = opening.groups()
        short = name.rpartition(":")[2]
        kind = _kind_of(name, short)
        leave_out(Omission.MACRO, name)
        if kind is None:
            # An admonition with a custom title, or executable code.
            if mark[0] == ":" or name in PROSE_FENCES:
                self._fences.append(_Fence(mark, "admonition"))
            else:
                self._code = mark
            self.lines.append(line)
            return
        fence = _Fence(mark, kind)
        self._fences.append(fence)
        said = ""
        if kind == "code":
            fence.language = rest.split(" ")[0]
        elif kind == "object":
            said = f"**{' '.join(rest.split())}**" if rest.strip() else ""
        elif kind == "prose":
            called = _CALLED.get(short, "")
            # Arguments of a grid are its numbers of columns.
            is_said = short not in {"image", "figure", "figure-md", "grid", "card-carousel"}
            said = f"{called} {write_roles(rest if is_said else '')}".strip()
            said = f"{said}:" if called else said
            if said and short in _CARDS and "*" not in said:
                # The spaces are a line break.
                said = f"**{said}**  "
            leave_out(Omission.ATTRIBUTE, "" if is_said else rest)
            if short in {"image", "figure"} and (shown := picture("", rest)):
                said, fence.picture, fence.line = shown, rest, len(self.lines)
        elif short in _INCLUDING:
            said = link_to_file(rest)
        elif kind in {"list-table", "csv-table"}:
            said = rest
        else:
            leave_out(Omission.NAVIGATION, rest)
        self.lines.append(f"{before}{said}" if said else "")

    def _option(self, fence: _Fence, line: str) -> bool:
        """Process an option of the directive that just began; return whether the line is one."""
        if fence.in_yaml or line.strip() == "---":
            fence.in_yaml = not (fence.in_yaml and line.strip() == "---")
            leave_out(Omission.ATTRIBUTE, line)
            self.lines.append("")
            return True
        option = _OPTION.match(line)
        if option is None:
            fence.in_options = fence.kind in {"code", "math"}
            return False
        if fence.kind == "csv-table" and option[1] == "header" and option[2]:
            leave_out(Omission.ATTRIBUTE, option[1])
            self._table.take_record(option[2])
            return True
        said = _OBJECT_OPTIONS if fence.kind == "object" else _SHOWN_OPTIONS
        is_said = option[1] in said and option[2] and fence.kind != "navigation"
        if (
            option[1] == "alt"
            and fence.picture
            and (shown := picture(option[2] or "", fence.picture))
        ):
            begin = f"![]({fence.picture})"
            self.lines[fence.line] = self.lines[fence.line].replace(begin, shown)
            is_said = False
        leave_out(Omission.ATTRIBUTE, line)
        label = f"{option[1]}: " if fence.kind == "object" else ""
        self.lines.append(f"{label}{option[2]}" if is_said else "")
        return True

    def _first(self, fence: _Fence, line: str) -> None:
        """Put the opening mark of code or a formula on the line before its first line."""
        fence.in_options = False
        opening = "$$" if fence.kind == "math" else f"```{fence.language}"
        if not self.lines[-1].strip():
            self.lines[-1] = opening
        else:
            self.lines.append(opening)
        fence.kind = "code"
        fence.language = opening[:3]
        self.lines.append(line)

    def _end(self, line: str) -> None:
        fence = self._fences.pop()
        if fence.kind == "code" and not fence.in_options:
            self.lines.append("$$" if fence.language == "$$" else "```")
        elif fence.kind == "admonition":
            self.lines.append(line)
        else:
            self._table.end()
            self.lines.append("")

    def _prose(self, line: str) -> None:
        if label := _LABEL.match(line):
            leave_out(Omission.ATTRIBUTE, label[1])
            self.lines.append("")
        elif comment := _COMMENT.match(line):
            leave_out(Omission.COMMENT, comment[1])
            self.lines.append("")
        elif self._fences and _SEPARATOR.match(line):
            self.lines.append("")
        elif _BREAK.match(line):
            leave_out(Omission.METADATA, line)
            self.lines.append("")
        else:
            if line.strip():
                self._prose_lines.append(len(self.lines))
            self.lines.append(line)

    def finish(self) -> str:
        """Return all lines; roles may continue on the next line of their paragraph."""
        for _, run in groupby(enumerate(self._prose_lines), lambda each: each[1] - each[0]):
            numbers = [number for _, number in run]
            paragraph = "\n".join(self.lines[numbers[0] : numbers[-1] + 1])
            if "`" in paragraph or "[](#" in paragraph:
                paragraph = _REFERENCE.sub(self._refer, paragraph)
                self.lines[numbers[0] : numbers[-1] + 1] = write_roles(paragraph).split("\n")
        return "\n".join(self.lines)

    def _refer(self, match: re.Match[str]) -> str:
        """Return a reference to a section of this document as a link, or any other unchanged."""
        title = self._titles.get(match[1] or match[2])
        if title:
            leave_out(Omission.ATTRIBUTE, match[0])
        return f"[{title}](#{anchor_of(title)})" if title else match[0]


def open_myst(text: str) -> str:
    """Convert MyST syntax to Markdown; other text is unchanged."""
    if not any(sign in text for sign in _SIGNS) or not _IS_MYST.search(text):
        return text
    text = rewrite_rst(text)
    opener = _Opener(text)
    for line in text.split("\n"):
        opener.take(line)
    return opener.finish()


def _kind_of(name: str, short: str) -> str | None:
    if short in CODE:
        return "code"
    if short == "math":
        return "math"
    if short in _NAVIGATION:
        return "navigation"
    if short in _OUTSIDE:
        return "left out"
    if short in {"list-table", "csv-table"}:
        return short
    if (":" in name and short not in _PROSE and short not in _CALLED) or short in _OBJECTS:
        return None if short.startswith("auto") else "object"
    is_known = short in _PROSE or (short in _CALLED and (":" in name or short != "example"))
    return "prose" if is_known else None


def _closes(line: str, mark: str) -> bool:
    closing = _CLOSING.match(line)
    return bool(closing and closing[1].startswith(mark))
