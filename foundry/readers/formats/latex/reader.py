"""Reads LaTeX: the printed text, with sections as its outline.

Formulas are kept as written. Commands that a document defines are expanded; for other unknown
commands, the arguments in braces are text.
"""

import re
from dataclasses import dataclass, field

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.readers.accounting.containers import latex_texts
from foundry.readers.composing import Composer, fence
from foundry.readers.contract import Reader
from foundry.readers.dates import normalise_date
from foundry.readers.formats.latex.commands import (
    ARGUMENTS,
    CONDITIONS,
    DEFINING,
    DROPPED,
    FLOATS,
    LEVELS,
    LISTS,
    REFERENCES,
    TABLES,
    THEOREMS,
)
from foundry.readers.formats.latex.cursor import Cursor, written
from foundry.readers.formats.latex.signs import ACCENTS, PRINTED, SIGNS, accent
from foundry.readers.formats.latex.tokens import Kind, Token
from foundry.readers.notes import leave_out

MAX_DEPTH = 10
"""Maximum nesting depth of braces in arguments; deeper ones are literal text."""
MAX_EXPANDED = 1_000_000
"""Maximum number of characters that a document's own commands may expand to."""
_BEGIN_DOCUMENT, _END_DOCUMENT = r"\begin{document}", r"\end{document}"
_LANGUAGE = re.compile(r"language=\{?([\w+-]+)")
# Commands of packages for citations and the index.
_CITED = re.compile(r"[a-z]*cite[a-z]{0,10}$|s?index[a-z]*$|glsadd$", re.IGNORECASE)
_CAPTION = re.compile(
    r"\b(?:caption|title)=(?:\{((?:[^{}]|\{[^{}]{0,200}\}){1,500})\}|([^,\[\]{}]{1,500}))"
)
_UNIT = re.compile(r"\\([a-zA-Z]+)")
_ESCAPED = re.compile(r"\\([#%&_~{}])")
_START = re.compile(r"\bstart[ \t]*=[ \t]*(\d{1,6})")
_PLACEHOLDER = re.compile(r"#([1-9])")


@dataclass
class _Macro:
    arguments: int
    body: str
    default: str | None = None


@dataclass
class _State:
    """State of reading a document."""

    composer: Composer
    macros: dict[str, _Macro] = field(default_factory=dict)
    theorems: dict[str, str] = field(default_factory=lambda: dict(THEOREMS))
    title: str | None = None
    date: str | None = None
    lists: list[list[str | int]] = field(default_factory=list)
    ended: int = 0
    """Last number of the previous list, which another list may continue."""
    expanded: int = 0
    tabbing: int = 0


def read(text: str) -> Reading:
    """Read the body of a document, with title, date and commands from its preamble."""
    preamble, begin, body = text.partition(_BEGIN_DOCUMENT)
    if not begin:
        preamble, body = "", text
    body, _, rest = body.partition(_END_DOCUMENT)
    state = _State(Composer())
    if begin:
        ignored = _Writer(preamble, _State(Composer(), state.macros, state.theorems))
        ignored.write()
        state.title, state.date = ignored.state.title, ignored.state.date
        leave_out(Omission.METADATA, preamble, "preamble")
        leave_out(Omission.COMMENT, rest, "after the document")
    if state.title:
        state.composer.heading(1, state.title)
    writer = _Writer(body, state)
    writer.write()
    writer.flush()
    dated = normalise_date(state.date) if state.date else None
    return state.composer.finish(title=state.title, modified=dated)


class _Writer(Cursor):
    """Writes a source to the composer of a document, or as one string (`inline`)."""

    def __init__(self, source: str, state: _State, depth: int = 0) -> None:
        super().__init__(source)
        self.state = state
        self._depth = depth
        self._parts: list[str] = []
        self._is_inline = depth > 0

    def flush(self) -> None:
        """Add the paragraphs written so far to the document."""
        text = re.sub(r"[ \t]*\n[ \t]*", "\n", "".join(self._parts))
        text = re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]{2,}", " ", text))
        self.state.composer.text(text.replace(_INDENT, "  "))
        self._parts.clear()

    def write(self) -> str:
        """Write everything; return what was not added to the document."""
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            self.place += 1
            self._write(token)
        return "".join(self._parts)

    def _write(self, token: Token) -> None:
        if token.kind == Kind.TEXT:
            self._parts.append(_typeset(token.text))
        elif token.kind == Kind.COMMAND:
            self._command(token.text)
        elif token.kind == Kind.SIGN:
            self._sign(token.text)
        elif token.kind == Kind.BEGIN:
            self._begin(token.text)
        elif token.kind == Kind.COMMENT:
            leave_out(Omission.COMMENT, token.text)
        elif token.kind == Kind.CELL:
            self._parts.append(" ")
        elif token.kind == Kind.VERB:
            self._parts.append(f"`{token.text}`")
        elif token.kind == Kind.DRAWN:
            leave_out(Omission.SCRIPT, token.text, token.name)
        elif token.kind == Kind.FORMULA:
            if token.name or token.text.startswith(("\\[", "$$")):
                self._block(token.text)
            else:
                self._parts.append(token.text)
        elif token.kind == Kind.VERBATIM:
            self._listing(token)

    def _block(self, text: str) -> None:
        if self._is_inline:
            self._parts.append(text)
        else:
            self.flush()
            self.state.composer.text(text, is_block=True)

    def _listing(self, token: Token) -> None:
        options, body = "", token.text
        if token.name in {"lstlisting", "minted", "Verbatim", "tcblisting"}:
            head, line, rest = body.partition("\n")
            if head.strip().startswith(("[", "{")) or not head.strip():
                options, body = (head, rest) if line else ("", body)
        language = _LANGUAGE.search(options)
        name = language[1] if language else ""
        if token.name == "minted":
            name = options.rpartition("{")[2].strip(" }")
        if caption := _CAPTION.search(options):
            said = caption[1] or caption[2] or ""
            options = options.replace(said, "", 1)
            self._parts.append(f"\n\n{_inline(said, self.state, self._depth)}\n\n")
        leave_out(Omission.ATTRIBUTE, options)
        self._block(fence(body.strip("\n"), name.lower()))

    def _sign(self, sign: str) -> None:
        if self.state.tabbing and sign in _TABS:
            self._parts.append(" ")
        elif sign in ACCENTS:
            self._parts.append(accent(sign, self._letter()))
        else:
            self._parts.append(PRINTED.get(sign, sign))
        if sign == "\\":
            leave_out(Omission.ATTRIBUTE, self.option())

    def _command(self, name: str) -> None:
        if macro := self.state.macros.get(name):
            self._expand(macro)
        elif name in ACCENTS:
            self._parts.append(accent(name, self._letter()))
        elif name in SIGNS:
            self._parts.append(SIGNS[name])
        elif name in LEVELS:
            self._heading(LEVELS[name])
        elif name == "item":
            self._item()
        elif name == "end":
            self._end(self.source())
        elif name in DEFINING:
            self._define(name)
        elif name in {"title", "date", "newtheorem"}:
            self._note(name)
        elif name == "iffalse":
            self._skip_branch()
        elif name in {"setcounter", "addtocounter"}:
            self._count(name)
        elif name in DROPPED or _CITED.match(name):
            self._drop(name)
        else:
            self._print(name)

    def _print(self, name: str) -> None:
        """Write a command whose arguments are text."""
        if name in {"footnote", "thanks", "footnotetext"}:
            self.option()
            self._parts.append(f" ({self._argument()})")
        elif name == "href":
            address, text = _ESCAPED.sub(r"\1", self.source()), self._argument()
            self._parts.append(f"[{text}]({address})")
        elif name in {"url", "path", "nolinkurl"}:
            self._parts.append(self.source())
        elif name in {"SI", "qty", "SIrange"}:
            self.option()
            number, unit = self._argument(), self.source()
            self._parts.append(f"{number} {_unit(unit)}")
        elif name == "si":
            self._parts.append(_unit(self.source()))
        elif name == "textsuperscript":
            raised = self._argument()
            is_power = raised.lstrip("-").isdigit() and "".join(self._parts[-1:])[-1:].isdigit()
            self._parts.append(f"^{raised}" if is_power else raised)
        elif name in {"caption", "captionof", "title"}:
            leave_out(Omission.ATTRIBUTE, self.option())
            self._parts.append(f"\n\n{self._argument()}\n\n")
        else:
            while option := self.option():
                leave_out(Omission.ATTRIBUTE, option)
            # Arguments follow as groups; two of them are two words.
            self._arguments_apart()

    def _arguments_apart(self) -> None:
        while self.is_open() and self.pairs.get(self.place):
            self._parts.append(self._argument())
            if self.is_open():
                self._parts.append(" ")

    def _heading(self, level: int) -> None:
        leave_out(Omission.ATTRIBUTE, self.option())
        title = self._argument()
        if self._is_inline:
            self._parts.append(f"\n{title}\n")
        else:
            self.flush()
            self.state.composer.heading(level, title)

    def _item(self) -> None:
        lists = self.state.lists
        term = self.option()
        mark: str | int = lists[-1][0] if lists else "-"
        if isinstance(mark, int):
            lists[-1][0] = mark + 1
        if term and mark != "":
            written = f"{_inline(term, self.state, self._depth)} "
        elif term:
            written = f"{_inline(term, self.state, self._depth)}: "
        else:
            written = ""
        shown = f"{mark}. " if isinstance(mark, int) else "- "
        self._parts.append(f"\n{_INDENT * (len(lists) - 1)}{shown}{written}")

    def _begin(self, name: str) -> None:
        plain = name.rstrip("*")
        if name in TABLES:
            self._table(name)
            return
        self.state.tabbing += name == "tabbing"
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
            said = f" ({_inline(option, self.state, self._depth)})" if option else ""
            self._parts.append(f"\n\n{self.state.theorems[plain]}{said}. ")
        elif plain == "frame" or plain in {"block", "exampleblock", "alertblock"}:
            if self.is_open():
                self._parts.append(f"\n\n{self._argument()}\n\n")
        else:
            if plain not in FLOATS and option.strip():
                self._parts.append(f"\n\n{_inline(option, self.state, self._depth)}\n")
            else:
                leave_out(Omission.ATTRIBUTE, option)
            self._parts.append("\n\n")

    def _end(self, name: str) -> None:
        self.state.tabbing -= name == "tabbing" and self.state.tabbing > 0
        if name.rstrip("*") in LISTS and self.state.lists:
            mark = self.state.lists.pop()[0]
            self.state.ended = mark - 1 if isinstance(mark, int) else self.state.ended
        self._parts.append("\n\n")

    def _table(self, name: str) -> None:
        """Add a table; cells that span columns or rows are repeated."""
        self.option()
        for _ in range(ARGUMENTS[name]):
            leave_out(Omission.ATTRIBUTE, self.source())
        rows: list[list[str]] = [[]]
        below: dict[int, tuple[str, int]] = {}
        cell = _Writer("", self.state, self._depth + 1)
        outer = self._parts
        self._parts = cell._parts
        is_inline, self._is_inline = self._is_inline, True
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            self.place += 1
            is_end = token.kind == Kind.COMMAND and token.text == "end"
            if token.kind == Kind.CELL or is_end or _ends_row(token):
                _add_cell(rows[-1], self._parts, below)
                if is_end:
                    self.source()
                    break
                if token.kind != Kind.CELL:
                    leave_out(Omission.ATTRIBUTE, self.option())
                    rows.append([])
            elif token.kind == Kind.COMMAND and token.text == "multicolumn":
                count = self.source()
                leave_out(Omission.ATTRIBUTE, f"{count} {self.source()}")
                text = self._argument()
                for _ in range(min(int(count), 100) - 1 if count.isdigit() else 0):
                    _add_cell(rows[-1], [text], below)
                self._parts.append(text)
            elif token.kind == Kind.COMMAND and token.text == "multirow":
                count = self.source().strip("*")
                leave_out(Omission.ATTRIBUTE, f"{count} {self.option()}")
                leave_out(Omission.ATTRIBUTE, self.source())
                leave_out(Omission.ATTRIBUTE, self.option())
                text = self._argument()
                self._parts.append(text)
                if count.isdigit():
                    below[len(rows[-1])] = (text, min(int(count), 1_000))
            elif token.kind == Kind.COMMAND and token.text in _RULES:
                leave_out(Omission.ATTRIBUTE, self.option("(", ")"))
            else:
                self._write(token)
        self._parts, self._is_inline = outer, is_inline
        filled = [row for row in rows if any(each.strip() for each in row)]
        if self._is_inline:
            self._parts.append("\n".join(" | ".join(row) for row in filled))
        elif filled:
            self.flush()
            self.state.composer.table(filled)

    def _note(self, name: str) -> None:
        if name == "newtheorem":
            environment = self.source()
            self.option()
            self.state.theorems[environment] = self._argument()
            self.option()
            return
        self.option()
        said = self._argument()
        if name == "title":
            self.state.title = " ".join(said.split())
        else:
            self.state.date = said

    def _define(self, name: str) -> None:
        """Record a command that the document defines."""
        defined = self.source().strip().lstrip("\\")
        count, default = 0, None
        if name == "def":
            while self.place < len(self.tokens) and not self.is_open():
                count += self.tokens[self.place].text.count("#")
                self.place += 1
        else:
            number = self.option()
            count = int(number) if number.strip().isdigit() else 0
            default = self.option() if count and self.is_option() else None
        body = self.source()
        if defined and count <= 9:
            self.state.macros[defined] = _Macro(count, body, default)

    def _count(self, name: str) -> None:
        """Set the number of the next item."""
        counter, number = self.source(), self.source()
        leave_out(Omission.ATTRIBUTE, f"{counter} {number}")
        lists = self.state.lists
        if lists and counter.startswith("enum") and number.lstrip("-").isdigit():
            before = lists[-1][0]
            if isinstance(before, int):
                lists[-1][0] = int(number) + (before if name == "addtocounter" else 1)

    def _skip_branch(self) -> None:
        """Skip a branch that is never taken, up to the other one or the end of the conditional."""
        depth = 0
        for place in range(self.place, len(self.tokens)):
            token = self.tokens[place]
            name = token.text if token.kind == Kind.COMMAND else ""
            if not depth and name in {"fi", "else"}:
                leave_out(Omission.COMMENT, "".join(map(written, self.tokens[self.place : place])))
                self.place = place + 1
                return
            depth += (name in CONDITIONS) - (name == "fi")

    def _drop(self, name: str) -> None:
        """Drop arguments that are not text, and words that only introduce them."""
        if name == "hyperref":
            self.option()
        while option := self.option() or self.option("(", ")"):
            leave_out(Omission.ATTRIBUTE, option)
        for _ in range(DROPPED.get(name, 1)):
            leave_out(Omission.ATTRIBUTE, self.source())
            leave_out(Omission.ATTRIBUTE, self.option())
        # "as said~\cite{x}, so" has no space before its comma.
        if self._parts and (name in REFERENCES or _CITED.match(name)):
            self._parts[-1] = self._parts[-1].rstrip(" \u00a0")

    def _expand(self, macro: _Macro) -> None:
        given: list[str] = []
        if macro.default is not None:
            given.append(self.option() if self.is_option() else macro.default)
        given += [self.source() for _ in range(macro.arguments - len(given))]
        text = _PLACEHOLDER.sub(
            lambda match: given[int(match[1]) - 1] if int(match[1]) <= len(given) else "",
            macro.body,
        )
        self.state.expanded += len(text) + 1
        if self.state.expanded > MAX_EXPANDED or self._depth >= MAX_DEPTH:
            self._parts.append(" ".join(given))
        else:
            self._parts.append(_inline(text, self.state, self._depth))

    def _letter(self) -> str:
        """Return the base letter of an accent: an argument, a command or the next letter."""
        self.skip_space()
        if self.is_open():
            return self._argument()
        if self.place < len(self.tokens):
            token = self.tokens[self.place]
            if token.kind == Kind.COMMAND and token.text in SIGNS:
                self.place += 1
                return SIGNS[token.text]
            if token.kind == Kind.TEXT and token.text:
                self.tokens[self.place] = Token(Kind.TEXT, token.text[1:])
                return token.text[0]
        return ""

    def _argument(self) -> str:
        """Return the text of the next argument."""
        source = self.source()
        return _inline(source, self.state, self._depth)


_TABS = frozenset("=><+-")
_INDENT = "\ue000"
_RULES = frozenset(
    "hline toprule midrule bottomrule endhead endfirsthead endfoot endlastfoot".split()
)
_SPACES = (("---", "\u2014"), ("--", "\u2013"), ("``", "\u201c"), ("''", "\u201d"), ("~", " "))


def _inline(source: str, state: _State, depth: int) -> str:
    if depth >= MAX_DEPTH:
        return source
    return _Writer(source, state, depth + 1).write()


def _unit(source: str) -> str:
    return " ".join(_UNIT.sub(r" \1 ", source).split())


def _typeset(text: str) -> str:
    for source, printed in _SPACES:
        text = text.replace(source, printed)
    return text


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


READER = Reader(
    "latex/4", dict.fromkeys((".tex", ".latex", ".ltx"), "text/x-tex"), read, texts=latex_texts
)
