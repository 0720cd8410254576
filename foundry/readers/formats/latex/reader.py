"""Reads LaTeX: the printed text, with sections as its outline.

Formulas are kept as written. Commands that a document defines are expanded; for other unknown
commands, the arguments in braces are text.
"""

import re

from foundry.documents import Reading
from foundry.documents.left_out import Omission
from foundry.readers.accounting.containers import latex_texts
from foundry.readers.composing import Composer, fence
from foundry.readers.contract import Reader
from foundry.readers.dates import normalise_date
from foundry.readers.formats.latex.algorithms import INDENT
from foundry.readers.formats.latex.commands import (
    DEFINING,
    DROPPED,
    FRAME_LEVEL,
    LEVELS,
    REFERENCES,
)
from foundry.readers.formats.latex.definitions import CITED, INDEXED, MAX_DEPTH, State
from foundry.readers.formats.latex.drawings import texts_of_drawing
from foundry.readers.formats.latex.environments import Environments
from foundry.readers.formats.latex.signs import ACCENTS, PRINTED, SIGNS, accent
from foundry.readers.formats.latex.tokens import Kind, Token
from foundry.readers.formats.office.scripts import struck
from foundry.readers.formats.pages.blocks import link
from foundry.readers.notes import leave_out

_BEGIN_DOCUMENT, _END_DOCUMENT = r"\begin{document}", r"\end{document}"
_LANGUAGE = re.compile(r"language=\{?([\w+-]+)")
_UNIT = re.compile(r"\\([a-zA-Z]+)")
_PREFIX = re.compile(
    r"\\((?:yocto|zepto|atto|femto|pico|nano|micro|milli|centi|deci|deca|hecto|kilo|mega|giga|tera"
    r"|peta|exa|zetta|yotta|kibi|mebi|gibi|tebi))\s*\\"
)
_ESCAPED = re.compile(r"\\([#%&_~{}])")


def read(text: str) -> Reading:
    """Read the body of a document, with title, date and commands from its preamble."""
    preamble, begin, body = text.partition(_BEGIN_DOCUMENT)
    if not begin:
        preamble, body = "", text
    body, _, rest = body.partition(_END_DOCUMENT)
    state = State(Composer())
    if begin:
        ignored = _Writer(preamble, State(Composer(), state.macros, state.theorems, state.terms))
        ignored.state.authors = []
        ignored.write()
        state.authors = ignored.state.authors
        state.title, state.date = ignored.state.title, ignored.state.date
        leave_out(Omission.METADATA, preamble, "preamble")
        leave_out(Omission.COMMENT, rest, "after the document")
    if state.title:
        state.composer.heading(1, state.title)
    state.composer.text("\n".join(state.authors or ()))
    state.authors = None
    writer = _Writer(body, state)
    writer.write()
    writer.flush()
    return state.composer.finish(title=state.title, modified=normalise_date(state.date))


class _Writer(Environments):
    """Writes LaTeX source to the composer of a document, or returns it as one string (`inline`)."""

    def flush(self) -> None:
        """Add the pending paragraphs to the document."""
        text = re.sub(r"[ \t]*\n[ \t]*", "\n", "".join(self.parts))
        text = re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]{2,}", " ", text))
        self.state.composer.text(text.replace(INDENT, "  "))
        self.parts.clear()

    def write(self) -> str:
        """Convert everything; return the text that was not added to the document."""
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            self.place += 1
            self.write_token(token)
        return "".join(self.parts)

    def write_token(self, token: Token) -> None:
        if token.kind == Kind.TEXT:
            text = token.text.replace("\n", " ") if self.state.algorithms else token.text
            self.parts.append(_typeset(text))
        elif token.kind == Kind.COMMAND:
            self._command(token.text)
        elif token.kind == Kind.SIGN:
            self._sign(token.text)
        elif token.kind == Kind.BEGIN:
            self.begin_environment(token.text)
        elif token.kind == Kind.COMMENT:
            leave_out(Omission.COMMENT, token.text)
        elif token.kind == Kind.CELL:
            self.parts.append(" ")
        elif token.kind == Kind.VERB:
            self.parts.append(f"`{token.text}`")
        elif token.kind == Kind.DRAWN:
            self._drawing(token)
        elif token.kind == Kind.FORMULA:
            if token.name or token.text.startswith(("\\[", "$$")):
                self.block(token.text)
            else:
                self.parts.append(token.text)
        elif token.kind == Kind.VERBATIM:
            self._listing(token)

    def block(self, text: str) -> None:
        if self.is_inline:
            self.parts.append(text)
        elif text:
            self.flush()
            self.state.composer.text(text, is_block=True)

    def _drawing(self, token: Token) -> None:
        shown = [] if token.name in {"comment", "filecontents"} else texts_of_drawing(token.text)
        code = token.text
        for text in shown:
            code = code.replace(text, "", 1)
        leave_out(Omission.SCRIPT, code, token.name)
        self.parts.append(f"\n\n{' '.join(map(self.inline, shown))}\n\n")

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
        self.say_title(options)
        self.block(fence(body.strip("\n"), name.lower()))

    def _sign(self, sign: str) -> None:
        if self.state.tabbing and sign in _TABS:
            self.parts.append(" ")
        elif self.state.algorithms and sign == ";":
            self.new_statement()
        elif sign in ACCENTS:
            self.parts.append(accent(sign, self.letter()))
        else:
            self.parts.append(PRINTED.get(sign, sign))
        if sign == "\\":
            leave_out(Omission.ATTRIBUTE, self.option())

    def _command(self, name: str) -> None:
        if macro := self.state.macros.get(name):
            self.expand(macro)
        elif (self.state.algorithms and self.algorithm(name)) or self.term(name):
            return
        elif name in ACCENTS:
            self.parts.append(accent(name, self.letter()))
        elif name in SIGNS:
            self.parts.append(SIGNS[name])
        elif name in LEVELS:
            self._heading(LEVELS[name])
        elif name == "frametitle":
            self._heading(FRAME_LEVEL)
        elif name == "item":
            self.item()
        elif name == "end":
            self.end_environment(self.source())
        elif name in DEFINING:
            self.define(name)
        elif name in {"title", "date", "newtheorem"} or (
            name == "author" and self.state.authors is not None
        ):
            self.note(name)
        elif name == "iffalse":
            self.skip_branch()
        elif name == "ifx":
            leave_out(Omission.ATTRIBUTE, f"{self.source()} {self.source()}")
        elif name in {"setcounter", "addtocounter"}:
            self.count(name)
        elif name in REFERENCES:
            leave_out(Omission.ATTRIBUTE, self.option())
            self.parts.append(f"[{self.source()}]")
        elif name == "lstinputlisting":
            self.say_title(self.option())
            file = self.source()
            self.block(link(file, file))
        elif name in DROPPED or INDEXED.match(name):
            self.drop(name)
        elif CITED.match(name):
            self.cite()
        else:
            self._print(name)

    def _print(self, name: str) -> None:
        """Convert a command whose arguments are text."""
        if name in {"footnote", "thanks", "footnotetext", "marginpar", "sidenote", "marginnote"}:
            self.option()
            self.parts.append(f" ({self.argument()})")
        elif name == "href":
            address, text = _ESCAPED.sub(r"\1", self.source()), self.argument()
            self.parts.append(f"[{text}]({address})")
        elif name in {"url", "path", "nolinkurl"}:
            self.parts.append(self.source())
        elif name in {"SI", "qty", "SIrange", "qtyrange"}:
            self.option()
            number = self.argument()
            if name.endswith("range"):
                number += f" to {self.argument()}"
            self.parts.append(f"{number} {_unit(self.source())}")
        elif name == "si":
            self.parts.append(_unit(self.source()))
        elif name == "textsuperscript":
            raised = self.argument()
            is_power = raised.lstrip("-").isdigit() and "".join(self.parts[-1:])[-1:].isdigit()
            self.parts.append(f"^{raised}" if is_power else raised)
        elif name in {"sout", "st", "xout"}:
            said, rest = self.argument(), self.tokens[self.place : self.place + 1]
            self.parts.append(struck(said, rest[0].text if rest else ""))
        elif name in {"caption", "captionof", "title"}:
            if name == "captionof":
                leave_out(Omission.ATTRIBUTE, self.source())
            leave_out(Omission.ATTRIBUTE, self.option())
            if self.state.algorithms and not self.is_inline:
                self.state.composer.text(self.argument())
            else:
                self.parts.append(f"\n\n{self.argument()}\n\n")
        elif name in {"subfloat", "subfigure", "subcaptionbox"}:
            # The caption is an option of the first two, and the first argument of the last.
            captions = [self.option(), self.option()]
            said = self.argument() if name == "subcaptionbox" else self.inline(captions[0])
            self.parts.append(f" {said} ")
            self._arguments_apart()
        else:
            self.drop_overlay()
            while option := self.option():
                leave_out(Omission.ATTRIBUTE, option)
            # Each argument is a separate group, so two arguments are at least two words.
            self._arguments_apart()

    def _arguments_apart(self) -> None:
        while self.is_open() and self.pairs.get(self.place):
            self.parts.append(self.argument())
            # In `\mark{name}%`, the comment hides the end of the line. Without this space, the next
            # line would be joined to the name.
            if self.place < len(self.tokens) and self.tokens[self.place].kind in _NO_WORD:
                self.parts.append(" ")

    def _heading(self, level: int) -> None:
        self.drop_overlay()
        leave_out(Omission.ATTRIBUTE, self.option())
        self.heading(level, self.argument())

    def inline(self, source: str) -> str:
        """Return the text of a source; unchanged if it is nested too deeply."""
        if self.depth >= MAX_DEPTH:
            return source
        return _Writer(source, self.state, self.depth + 1).write()


_TABS = frozenset("=><+-")
_NO_WORD = frozenset((Kind.OPEN, Kind.COMMENT))
_SPACES = (("---", "\u2014"), ("--", "\u2013"), ("``", "\u201c"), ("''", "\u201d"), ("~", " "))


def _unit(source: str) -> str:
    return " ".join(_UNIT.sub(r" \1 ", _PREFIX.sub(r"\\\1", source)).split())


def _typeset(text: str) -> str:
    for source, printed in _SPACES:
        text = text.replace(source, printed)
    return text


READER = Reader(
    "latex/10", dict.fromkeys((".tex", ".latex", ".ltx"), "text/x-tex"), read, texts=latex_texts
)
