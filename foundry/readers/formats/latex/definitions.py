"""Defines, counts, drops and expands LaTeX commands."""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from foundry.documents.left_out import Omission
from foundry.readers.composing import Composer
from foundry.readers.formats.latex.commands import CONDITIONS, DROPPED, THEOREMS
from foundry.readers.formats.latex.cursor import Cursor, written
from foundry.readers.formats.latex.signs import SIGNS
from foundry.readers.formats.latex.tokens import Kind, Token
from foundry.readers.notes import leave_out

MAX_DEPTH = 10
"""Maximum nesting depth of braces in arguments; deeper ones are literal text."""
MAX_EXPANDED = 1_000_000
"""Maximum number of characters that a document's own commands may expand to."""
# Commands of packages for citations and the index.
CITED = re.compile(r"(?!no)[a-z]*cite[a-z]{0,10}$", re.IGNORECASE)
INDEXED = re.compile(r"s?index[a-z]*$|glsadd$", re.IGNORECASE)
_AND = re.compile(r"\s*\\and\b\s*")
_PLACEHOLDER = re.compile(r"#([1-9])")


@dataclass
class Macro:
    """A command that the document defines."""

    arguments: int
    body: str
    default: str | None = None


@dataclass
class Term:
    """An abbreviation or glossary term; `is_known` is whether its short form is used alone."""

    short: str
    long: str
    is_known: bool = False


@dataclass
class State:
    """The state that all parts of a document share: commands, lists, title and output."""

    composer: Composer
    macros: dict[str, Macro] = field(default_factory=dict)
    theorems: dict[str, str] = field(default_factory=lambda: dict(THEOREMS))
    terms: dict[str, Term] = field(default_factory=dict)
    title: str | None = None
    authors: list[str] | None = None
    date: str | None = None
    lists: list[list[str | int]] = field(default_factory=list)
    ended: int = 0
    """Last number of the previous list, which another list may continue."""
    expanded: int = 0
    tabbing: int = 0
    algorithms: int = 0
    """Number of open environments with pseudocode; `indent` is the number of open blocks in it."""
    indent: int = 0


class Definitions(Cursor, ABC):
    """Reads a source into `parts`, with the commands that its document defines."""

    def __init__(self, source: str, state: State, depth: int = 0) -> None:
        super().__init__(source)
        self.state = state
        self.depth = depth
        self.parts: list[str] = []

    @abstractmethod
    def inline(self, source: str) -> str:
        """Return the text of a source."""

    def argument(self) -> str:
        """Take the next argument, and return its text."""
        source = self.source()
        return self.inline(source)

    def note(self, name: str) -> None:
        """Record the title, the date, an author, or the name of a kind of theorem."""
        if name == "newtheorem":
            environment = self.source()
            self.option()
            self.state.theorems[environment] = self.argument()
            self.option()
            return
        self.option()
        if name == "author":
            authors = self.inline(_AND.sub(", ", self.source()))
            assert self.state.authors is not None
            self.state.authors.append(" ".join(authors.split()))
            return
        said = self.argument()
        if name == "title":
            self.state.title = " ".join(said.split())
        else:
            self.state.date = said

    def define(self, name: str) -> None:
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
            self.state.macros[defined] = Macro(count, body, default)

    def count(self, name: str) -> None:
        """Set the number of the next item."""
        counter, number = self.source(), self.source()
        leave_out(Omission.ATTRIBUTE, f"{counter} {number}")
        lists = self.state.lists
        if lists and counter.startswith("enum") and number.lstrip("-").isdigit():
            before = lists[-1][0]
            if isinstance(before, int):
                lists[-1][0] = int(number) + (before if name == "addtocounter" else 1)

    def skip_branch(self) -> None:
        """Skip a branch that is never taken, up to its `else` or the end of the conditional."""
        depth = 0
        for place in range(self.place, len(self.tokens)):
            token = self.tokens[place]
            name = token.text if token.kind == Kind.COMMAND else ""
            if not depth and name in {"fi", "else"}:
                leave_out(Omission.COMMENT, "".join(map(written, self.tokens[self.place : place])))
                self.place = place + 1
                return
            depth += (name in CONDITIONS) - (name == "fi")

    def drop(self, name: str) -> None:
        """Drop arguments that are not text, and a space between an index entry and punctuation."""
        if name == "hyperref":
            self.option()
        while option := self.option() or self.option("(", ")"):
            leave_out(Omission.ATTRIBUTE, option)
        for _ in range(DROPPED.get(name, 1)):
            leave_out(Omission.ATTRIBUTE, self.source())
            leave_out(Omission.ATTRIBUTE, self.option())
        # In many documents, `\indexsee` has two arguments.
        while "index" in name and self.is_open() and self.place in self.pairs:
            leave_out(Omission.ATTRIBUTE, self.source())
        # In "a type \index{type}, so", no space remains before the comma.
        following = self.tokens[self.place].text[:1] if self.place < len(self.tokens) else ""
        if self.parts and INDEXED.match(name) and following in {".", ",", ";", ":", "!", "?", ")"}:
            self.parts[-1] = self.parts[-1].rstrip(" \u00a0")

    def cite(self) -> None:
        """Write a citation by its keys, with the texts around them: `[see knuth, p. 5]`."""
        options = []
        while self.is_option():
            options.append(self.inline(self.option()).strip())
        *before, after = options or [""]
        keys = ", ".join(key.strip() for key in self.source().split(","))
        cited = " ".join(filter(None, (*before, keys)))
        self.parts.append(f"[{', '.join(filter(None, (cited, after)))}]")

    def expand(self, macro: Macro) -> None:
        """Expand a command that the document defines, with its arguments.

        If the text grows too long or is nested too deeply, only the arguments are kept.
        """
        given: list[str] = []
        if macro.default is not None:
            given.append(self.option() if self.is_option() else macro.default)
        given += [self.source() for _ in range(macro.arguments - len(given))]
        text = _PLACEHOLDER.sub(
            lambda match: given[int(match[1]) - 1] if int(match[1]) <= len(given) else "",
            macro.body,
        )
        self.state.expanded += len(text) + 1
        if self.state.expanded > MAX_EXPANDED or self.depth >= MAX_DEPTH:
            self.parts.append(" ".join(given))
        else:
            self.parts.append(self.inline(text))

    def letter(self) -> str:
        """Take and return the base letter of an accent: an argument, a command or the next letter.

        Returns "" at the end.
        """
        self.skip_space()
        if self.is_open():
            return self.argument()
        if self.place < len(self.tokens):
            token = self.tokens[self.place]
            if token.kind == Kind.COMMAND and token.text in SIGNS:
                self.place += 1
                return SIGNS[token.text]
            if token.kind == Kind.TEXT and token.text:
                self.tokens[self.place] = Token(Kind.TEXT, token.text[1:])
                return token.text[0]
        return ""
