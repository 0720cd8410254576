"""Backslashes that Markdown, JSON and code write into words, and that no word has."""

import re

# Of Markdown, `user\_id` and `C\#`; of JSON and code, UTF-16 in digits: `Stra\u00dfe`.
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_UNITS = re.compile(r"(?<!\\)(?:\\u[0-9A-Fa-f]{4})++")


def unescape(text: str) -> str:
    """Return a text without the backslashes that escape characters in markup and code."""
    if "\\u" in text:
        text = _UNITS.sub(_characters, text)
    return _ESCAPED.sub(r"\1", text)


def _characters(match: re.Match[str]) -> str:
    units = bytes.fromhex(match[0].replace("\\u", ""))
    return units.decode("utf-16-be", "replace")
