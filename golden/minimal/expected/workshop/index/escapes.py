"""Removes backslash escapes of Markdown, JSON and code, which do not belong to words."""

import re

# Markdown: `user\_id`, `C\#`. JSON and code, UTF-16 in hex: `Stra\u00dfe`.
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_UNITS = re.compile(r"(?<!\\)(?:\\u[0-9A-Fa-f]{4})++")


def unescape(text: str) -> str:
    """Return a text without the backslash escapes of markup and code."""
    if "\\u" in text:
        text = _UNITS.sub(_characters, text)
    return _ESCAPED.sub(r"\1", text)


def _characters(match: re.Match[str]) -> str:
    units = bytes.fromhex(match[0].replace("\\u", ""))
    return units.decode("utf-16-be", "replace")
