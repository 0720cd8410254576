"""JSON for standard output, which may be a terminal."""

import json
import re

_COMMANDS = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What JSON may hold as it is, but a terminal obeys: controls, ends of lines, directions."""


def format_json(value: object, *, indent: int | None = None) -> str:
    """A value as JSON, in which characters that a terminal would obey are escapes."""
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return _COMMANDS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
