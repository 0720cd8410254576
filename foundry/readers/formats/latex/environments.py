"""LaTeX environments: lists, theorems, tables, pseudocode."""

import re
from abc import abstractmethod

from foundry.documents.left_out import Omission
from foundry.readers.formats.latex.algorithms import ALGORITHMS, INDENT, Algorithms
from foundry.readers.formats.latex.commands import ARGUMENTS, FLOATS, FRAME_LEVEL, LISTS, TABLES
from foundry.readers.formats.latex.definitions import State
from foundry.readers.formats.latex.terms import Terms
from foundry.readers.formats.latex.tokens import Kind, Token
from foundry.readers.notes import leave_out

_START = re.compile(r"\bstart[ \t]*=[ \t]*(\d{1,6})")
_CAPTION = re.compile(
    r"\b(?:caption|title)=(?:\{((?:[^{}]|\{[^{}]{0,200}\}){1,500})\}|([^,\[\]{}]{1,500}))"
)
_PLACEMENT = re.compile(r"[\d.,!htbpHTBPclr]*|.*=.*", re.DOTALL)
_OVERLAY = re.compile(r"<[\d+,.|:a-z-]{1,30}>")
_RULES = frozenset(
    "hline toprule midrule bottomrule endhead endfirsthead endfoot endlastfoot".split()
)


class Environments(Algorithms, Terms):
    """Reads a source with environments; `is_inline` is whether the result is one string."""

    def __init__(self, source: str, state: State, depth: int = 0) -> None:
        super().__init__(source, state, depth)
        self.is_inline = depth > 0

    @abstractmethod
    def write_token(self, token: Token) -> None:
        """Convert a token with its arguments."""

    @abstractmethod
    def flush(self) -> None:
        """Add the pending paragraphs to the document."""

    @abstractmethod
    def block(self, text: str) -> None:
        """Add a block of code or a formula, unless it is empty."""

    def end_paragraph(self) -> None:
        """Add the pending paragraphs to the document, unless the result is one string."""
        if not self.is_inline:
            self.flush()

    def heading(self, level: int, title: str) -> None:
        """Add a heading, or a line if the result is one string."""
        if self.is_inline:
            self.parts.append(f"\n{title}\n")
        else:
            self.flush()
            self.state.composer.heading(level, title)

    def say_title(self, options: str) -> None:
        """Write the title or caption among options, and leave out the others."""
        if caption := _CAPTION.search(options):
            said = caption[1] or caption[2] or ""
            options = options.replace(said, "", 1)
            self.parts.append(f"\n\n{self.inline(said)}\n\n")
        leave_out(Omission.ATTRIBUTE, options)

    def drop_overlay(self) -> None:
        """Skip an overlay specification, the `<1-2>` of `\\only<1-2>`."""
        if self.is_option("<") and (found := _OVERLAY.match(self.tokens[self.place].text)):
            leave_out(Omission.ATTRIBUTE, found[0])
            self.tokens[self.place] = Token(Kind.TEXT, self.tokens[self.place].text[found.end() :])
            self.place += not self.tokens[self.place].text

    def item(self) -> None:
        """Begin an item of a list."""
        self.drop_overlay()
        lists = self.state.lists
        term = self.option()
        mark: str | int = lists[-1][0] if lists else "-"
        if isinstance(mark, int):
            lists[-1][0] = mark + 1
        if term and mark != "":
            written = f"{self.inline(term)} "
        elif term:
            written = f"{self.inline(term)}: "
        else:
            written = ""
        shown = f"{mark}. " if isinstance(mark, int) else "- "
        self.parts.append(f"\n{INDENT * (len(lists) - 1)}{shown}{written}")

    def begin_environment(self, name: str) -> None:
        """Convert the beginning of an environment; a table is converted as a whole."""
        plain = name.rstrip("*")
        if name in TABLES:
            self.table(name)
            return
        self.state.tabbing += name == "tabbing"
        if plain == "frame":
            self.drop_overlay()
        option = self.option()
        for _ in range(ARGUMENTS.get(name, 0)):
            leave_out(Omission.ATTRIBUTE, self.source())
        if plain in LISTS:
            mark = LISTS[plain]
            start = _START.search(option)
            first = self.state.ended + 1 if "resume" in option else int(start[1]) if start else 1
            self.state.lists.append([first if mark == "1" else mark])
            leave_out(Omission.ATTRIBUTE, option)
        elif plain in self.state.theorems:
            said = f" ({self.inline(option)})" if option else ""
            self.parts.append(f"\n\n{self.state.theorems[plain]}{said}. ")
        elif plain == "frame":
            leave_out(Omission.ATTRIBUTE, option)
            if self.is_open():
                self.heading(FRAME_LEVEL, self.argument())
            if self.is_open():
                self.parts.append(f"{self.argument()}\n\n")
        elif plain in ALGORITHMS:
            leave_out(Omission.ATTRIBUTE, option)
            self.end_paragraph()
            self.state.algorithms += 1
        elif plain in {"block", "exampleblock", "alertblock"}:
            if self.is_open():
                self.parts.append(f"\n\n{self.argument()}\n\n")
        else:
            if plain not in FLOATS and not _PLACEMENT.fullmatch(option):
                self.parts.append(f"\n\n{self.inline(option)}\n")
            else:
                self.say_title(option)
            self.parts.append("\n\n")
            while self.is_open() and self.pairs.get(self.place):
                # Arguments of an unknown environment, such as the title of a box.
                self.parts.append(f"{self.argument()}\n")

    def end_environment(self, name: str) -> None:
        """End an environment."""
        self.state.tabbing -= name == "tabbing" and self.state.tabbing > 0
        if name.rstrip("*") in LISTS and self.state.lists:
            mark = self.state.lists.pop()[0]
            self.state.ended = mark - 1 if isinstance(mark, int) else self.state.ended
        if name.rstrip("*") in ALGORITHMS and self.state.algorithms:
            self.state.algorithms -= 1
            self.state.indent = 0
            self.block(self.pseudocode())
        self.parts.append("\n\n")
        if name == "frame" and not self.is_inline:
            self.flush()
            self.state.composer.end_section(FRAME_LEVEL)

    def table(self, name: str) -> None:
        """Add a table; cells that span columns or rows are repeated."""
        self.option()
        for _ in range(ARGUMENTS[name]):
            leave_out(Omission.ATTRIBUTE, self.source())
        rows: list[list[str]] = [[]]
        captions: list[str] = []
        first_head: int | None = None
        below: dict[int, tuple[str, int]] = {}
        outer, self.parts = self.parts, []
        is_inline, self.is_inline = self.is_inline, True
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            self.place += 1
            is_end = token.kind == Kind.COMMAND and token.text == "end"
            if token.kind == Kind.CELL or is_end or _ends_row(token):
                _add_cell(rows[-1], self.parts, below)
                if is_end:
                    self.source()
                    break
                if token.kind != Kind.CELL:
                    leave_out(Omission.ATTRIBUTE, self.option())
                    rows.append([])
            elif token.kind == Kind.COMMAND and token.text == "multicolumn":
                count = self.source()
                leave_out(Omission.ATTRIBUTE, f"{count} {self.source()}")
                text = self.argument()
                for _ in range(min(int(count), 100) - 1 if count.isdigit() else 0):
                    _add_cell(rows[-1], [text], below)
                self.parts.append(text)
            elif token.kind == Kind.COMMAND and token.text == "multirow":
                count = self.source().strip("*")
                leave_out(Omission.ATTRIBUTE, f"{count} {self.option()}")
                leave_out(Omission.ATTRIBUTE, self.source())
                leave_out(Omission.ATTRIBUTE, self.option())
                text = self.argument()
                self.parts.append(text)
                if count.isdigit():
                    below[len(rows[-1])] = (text, min(int(count), 1_000))
            elif token.kind == Kind.COMMAND and token.text == "caption":
                leave_out(Omission.ATTRIBUTE, self.option())
                captions.append(self.argument())
            elif token.kind == Kind.COMMAND and token.text in _RULES:
                if token.text == "endfirsthead":
                    first_head = len(rows)
                elif token.text == "endhead" and first_head is not None:
                    # This header is repeated on later pages.
                    repeated = rows[first_head - 1 : -1]
                    leave_out(Omission.DUPLICATE, "\n".join(map(" ".join, repeated)))
                    del rows[first_head - 1 : -1]
                leave_out(Omission.ATTRIBUTE, self.option("(", ")"))
            else:
                self.write_token(token)
        self.parts, self.is_inline = outer, is_inline
        filled = [row for row in rows if any(each.strip() for each in row)]
        if self.is_inline:
            self.parts += [f"{caption}\n" for caption in captions]
            self.parts.append("\n".join(" | ".join(row) for row in filled))
        elif filled:
            self.flush()
            self.state.composer.text("\n\n".join(captions))
            self.state.composer.table(filled)


def _ends_row(token: Token) -> bool:
    if token.kind == Kind.SIGN:
        return token.text == "\\"
    return token.kind == Kind.COMMAND and token.text in {"tabularnewline", "cr"}


def _add_cell(row: list[str], parts: list[str], below: dict[int, tuple[str, int]]) -> None:
    """End a cell; an empty one below a cell that spans rows repeats that cell."""
    text = " ".join("".join(parts).split())
    parts.clear()
    said, count = below.get(len(row), ("", 0))
    if count > 0:
        below[len(row)] = (said, count - 1)
        text = text or said
    row.append(text)
