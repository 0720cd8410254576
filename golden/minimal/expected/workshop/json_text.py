"""Formats JSON so that it is safe in terminals and in streams that are read by line."""

import json
import re

# Characters that JSON may contain unescaped: controls, bidi marks, and characters that end a line
# for many clients.
_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def format_json(value: object, *, indent: int | None = None) -> str:
    """Return a value as JSON, with escapes for characters that terminals interpret."""
    separators = (",", ":") if indent is None else (",", ": ")
    return escape_unsafe(
        json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    )


def escape_unsafe(text: str) -> str:
    """Return the same JSON with escapes for characters that end a line or control a terminal."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
