"""A position in LaTeX tokens, and the arguments that follow."""

import re
from bisect import bisect_left

from foundry.documents.left_out import Omission
from foundry.readers.formats.latex.tokens import Kind, Token, tokenize
from foundry.readers.notes import leave_out

MAX_OPTION_TOKENS = 80


class Cursor:
    """The tokens of a source, its pairs of braces, and the position of the next token."""

    def __init__(self, source: str) -> None:
        self.tokens, self.pairs = tokenize(source)
        self.place = 0
        self._ends: dict[str, list[int]] = {}

    def source(self) -> str:
        """Take the next argument, and return its source without braces; "" at the end."""
        self.skip_space()
        if self.place >= len(self.tokens):
            return ""
        token = self.tokens[self.place]
        if token.kind == Kind.OPEN:
            end = self.pairs.get(self.place)
            if end is None:
                self.place += 1
                return ""
            inside = self.tokens[self.place + 1 : end]
            self.place = end + 1
            return "".join(map(written, inside))
        if token.kind == Kind.TEXT:
            self.tokens[self.place] = Token(Kind.TEXT, token.text[1:])
            return token.text[:1]
        self.place += 1
        return written(token)

    def option(self, begin: str = "[", end: str = "]") -> str:
        """Take the next argument in brackets, and return its source; "" if there is none."""
        limit = self.place + MAX_OPTION_TOKENS
        if not self.is_option(begin) or not self._may_end(end, limit):
            return ""
        place, depth = self.place, 0
        signs = re.compile(f"[{re.escape(begin + end)}]")
        while place < min(limit, len(self.tokens)):
            token = self.tokens[place]
            if token.kind == Kind.OPEN and place in self.pairs:
                place = self.pairs[place] + 1
                continue
            for sign in signs.finditer(token.text) if token.kind == Kind.TEXT else ():
                depth += 1 if sign[0] == begin else -1
                if not depth:
                    inside = "".join(map(written, self.tokens[self.place : place]))
                    inside += token.text[: sign.start()]
                    rest = token.text[sign.end() :]
                    self.tokens[place] = Token(Kind.TEXT, rest)
                    self.place = place if rest else place + 1
                    return inside.strip().removeprefix(begin)
            place += 1
        return ""

    def _may_end(self, end: str, limit: int) -> bool:
        """Return whether a text token before number `limit` contains the sign `end`."""
        if end not in self._ends:
            self._ends[end] = [
                place
                for place, token in enumerate(self.tokens)
                if token.kind == Kind.TEXT and end in token.text
            ]
        ends = self._ends[end]
        following = bisect_left(ends, self.place)
        return following < len(ends) and ends[following] < limit

    def is_option(self, begin: str = "[") -> bool:
        """Return whether an argument in brackets follows."""
        if self.place >= len(self.tokens):
            return False
        token = self.tokens[self.place]
        return token.kind == Kind.TEXT and token.text.lstrip(" \t").startswith(begin)

    def is_open(self) -> bool:
        """Return whether an opening brace follows immediately."""
        return self.place < len(self.tokens) and self.tokens[self.place].kind == Kind.OPEN

    def skip_space(self) -> None:
        """Skip white space and comments."""
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            if token.kind == Kind.COMMENT:
                leave_out(Omission.COMMENT, token.text)
            elif token.kind == Kind.TEXT and not token.text.strip(" \t\n"):
                pass
            else:
                if token.kind == Kind.TEXT:
                    self.tokens[self.place] = Token(Kind.TEXT, token.text.lstrip(" \t\n"))
                return
            self.place += 1


def written(token: Token) -> str:
    """Return the source of a token."""
    if token.kind == Kind.COMMAND:
        return f"\\{token.text} "
    if token.kind == Kind.SIGN:
        return f"\\{token.text}"
    if token.kind == Kind.BEGIN:
        return f"\\begin{{{token.text}}}"
    if token.kind == Kind.VERB:
        mark = next(mark for mark in "|!+=/:;,?\x00" if mark not in token.text)
        return f"\\verb{mark}{token.text}{mark}"
    if token.kind in {Kind.VERBATIM, Kind.DRAWN}:
        return f"\\begin{{{token.name}}}{token.text}\\end{{{token.name}}}"
    return token.text
