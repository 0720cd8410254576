"""Tokenizes LaTeX in linear time, and matches its braces.

Literal text (listings, formulas) is one token, so that a `%` or a brace inside it has no meaning.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto

_TOKEN = re.compile(
    r"\\(?:[vV]erb\*?|(?:lstinline|mintinline)(?:\[[^\[\]\n]{0,200}\])?(?:\{[\w+-]{1,30}\}(?=[^\w\s]))?)"
    r"(?:(?P<mark>[^\sa-zA-Z*{\[])(?P<verb>[^\n]{0,2000}?)(?P=mark)|\{(?P<braced>[^{}\n]{1,2000})\})"
    r"|\\begin[ \t]*\{(?P<begin>[^{}\\\n]{1,60})\}"
    r"|\\(?P<name>[a-zA-Z@]+)\*?[ \t]*"
    r"|\\(?P<sign>[^a-zA-Z])"
    # A comment includes its line ending, but not an empty line after it.
    r"|(?P<comment>%[^\n]*(?:\n[ \t]*(?!\n))?)"
    r"|(?P<dollar>\$\$?)|(?P<open>\{)|(?P<close>\})|(?P<cell>&)"
    r"|(?P<text>[^\\%${}&]+|\\)",
    re.DOTALL,
)
_BLANK = re.compile(r"\n[ \t]*\n")
VERBATIM = frozenset(
    "verbatim verbatim* Verbatim BVerbatim LVerbatim alltt lstlisting minted tcblisting".split()
)
FORMULAS = frozenset(
    "equation align gather multline eqnarray displaymath math alignat flalign dmath".split()
)
DRAWN = frozenset("tikzpicture pgfpicture picture filecontents comment asy".split())
"""Environments with code for pictures or files, or comments."""


class Kind(Enum):
    """Kind of a token."""

    TEXT = auto()
    COMMAND = auto()
    SIGN = auto()  # a command of one character that is not a letter
    BEGIN = auto()
    OPEN = auto()
    CLOSE = auto()
    CELL = auto()
    COMMENT = auto()
    FORMULA = auto()
    VERB = auto()  # verbatim within a line
    VERBATIM = auto()
    DRAWN = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """A token: `text` is its text or name; `name` is the name of a literal environment."""

    kind: Kind
    text: str
    name: str = ""


def tokenize(source: str) -> tuple[list[Token], dict[int, int]]:
    """Return the tokens, and the closing brace of each opening one, by number."""
    tokens: list[Token] = []
    pairs: dict[int, int] = {}
    opened: list[int] = []
    unclosed: set[str] = set()
    position = 0
    while match := _TOKEN.match(source, position):
        position = match.end()
        token = _whole(source, match, unclosed)
        if token is not None:
            found, position = token
            tokens.append(found)
            continue
        kind = match.lastgroup
        if kind == "open":
            opened.append(len(tokens))
        elif kind == "close" and opened:
            pairs[opened.pop()] = len(tokens)
        tokens.append(Token(_KINDS[kind or "text"], match[kind or 0]))
    return tokens, pairs


_KINDS = {
    "name": Kind.COMMAND,
    "sign": Kind.SIGN,
    "begin": Kind.BEGIN,
    "comment": Kind.COMMENT,
    "open": Kind.OPEN,
    "close": Kind.CLOSE,
    "cell": Kind.CELL,
    "verb": Kind.VERB,
    "braced": Kind.VERB,
    "text": Kind.TEXT,
    "dollar": Kind.TEXT,
}
_CLOSING = {"(": "\\)", "[": "\\]"}


def _whole(source: str, match: re.Match[str], unclosed: set[str]) -> tuple[Token, int] | None:
    """Return the listing, formula or drawing that begins at a token, if any, and its end."""
    begin, end = match.end(), -1
    if name := match["begin"]:
        plain = name.rstrip("*")
        if name in VERBATIM or plain in VERBATIM:
            kind = Kind.VERBATIM
        elif plain in FORMULAS:
            kind = Kind.FORMULA
        elif plain in DRAWN:
            kind = Kind.DRAWN
        else:
            return None
        closing = f"\\end{{{name}}}"
    elif match["sign"] in _CLOSING:
        kind, closing = Kind.FORMULA, _CLOSING[match["sign"]]
    elif closing := match["dollar"] or "":
        kind = Kind.FORMULA
    else:
        return None
    if closing not in unclosed:
        end = _find(source, closing, begin)
        if end < 0:
            unclosed.add(closing)
    if end < 0 or (closing == "$" and _BLANK.search(source, begin, end)):
        return None
    stop = end + len(closing)
    said = (
        source[begin:end] if kind in {Kind.VERBATIM, Kind.DRAWN} else source[match.start() : stop]
    )
    return Token(kind, said, name or ""), stop


def _find(source: str, closing: str, begin: int) -> int:
    end = source.find(closing, begin)
    # A dollar sign after a backslash is literal.
    while closing.startswith("$") and end > 0 and source[end - 1] == "\\":
        end = source.find(closing, end + 1)
    return end
