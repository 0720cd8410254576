"""File names as an index stores them."""

import re

from .tree import escape

# Control characters, line separators, and characters that hide or reorder others.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_NO_UTF8 = re.compile("[\ud800-\udfff]")


def indexed_name(name: str) -> str:
    """Return a file name as indexed: control characters escaped, undecodable bytes as U+FFFD."""
    visible = _UNPRINTABLE.sub(lambda match: escape(match[0]), name)
    return _NO_UTF8.sub("\ufffd", visible)
