"""Removes backslash escapes of Markdown, JSON and code, since they are not part of words."""

import re

# Markdown: `user\_id`, `C\#`. JSON and code, UTF-16 in hex: `Stra\u00dfe`.
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_UNITS = re.compile(r"(?<!\\)(?:\\u[0-9A-Fa-f]{4})++")
_RUN = re.compile(r"(?:\\+\w[\w.:/@'+#-]*)++")
# White space in strings of code and data: `first\nsecond`, `name:\tvalue`. It follows text without
# a space, unlike most commands of LaTeX (`$\nabla f$`), and every backslash of its run is such an
# escape, unlike in `C:\Users\new` and `\alpha\times`.
_WHITE_SPACE = re.compile(r"(?:\\+[nrt][^\\]*)+")
_BEFORE = frozenset(".,:;!?)]}\"'>=*`/%-")
_WORD = re.compile(r"\\+(?P<letter>[nrt])(?P<rest>\w[^\\]*)")


def unescape(text: str) -> str:
    """Return a text without the backslash escapes of markup and code.

    After white space such as `\\n`, the word is returned both with and without the letter `n`,
    because it may also be a name in a path (`src\\new`).
    """
    if "\\u" in text:
        text = _UNITS.sub(_characters, text)
    text = _RUN.sub(_words, text)
    return _ESCAPED.sub(r"\1", text)


def _characters(match: re.Match[str]) -> str:
    units = bytes.fromhex(match[0].replace("\\u", ""))
    return units.decode("utf-16-be", "replace")


def _words(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    follows_text = before in _BEFORE or before.isalnum()
    if not follows_text or _WHITE_SPACE.fullmatch(match[0]) is None:
        return match[0]
    return _WORD.sub(r" \g<letter>\g<rest> \g<rest>", match[0])
