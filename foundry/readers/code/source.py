"""Reads source code and structured data as text, with the outline from a parser for its language.

If there is no parser, or it fails, the text is split at unindented lines after blank ones.
"""

import re
from collections.abc import Iterator

from foundry.documents import Reading, Span
from foundry.documents.reasons import Reason
from foundry.files import read_beside
from foundry.readers.code.outline import READERS as OUTLINES
from foundry.readers.contract import Reader, UnreadableError

_LANGUAGES = read_beside(__file__, "languages.toml")
# A definition starts at an unindented line after a blank one, unless it is a closing bracket.
_DEFINITION = re.compile(r"(?<=\n\n)(?=[^\s)\]}])")

MINIFIABLE = frozenset(("css", "javascript", "typescript"))
MINIFIED_CHARS = 20_000
MINIFIED_LINE_CHARS = 1_000
"""Average line length from which code is considered generated."""


def read(text: str) -> Reading:
    """Read source code; there is no title, and every top-level region is a block."""
    return Reading(text=text, blocks=tuple(_find_regions(text)))


def _read_written(text: str) -> Reading:
    if len(text) > MINIFIED_CHARS and len(text) > MINIFIED_LINE_CHARS * (text.count("\n") + 1):
        raise UnreadableError(Reason.MINIFIED, f"{len(text)} characters")
    return read(text)


def _find_regions(text: str) -> Iterator[Span]:
    start = 0
    for match in _DEFINITION.finditer(text):
        if text[start : match.start()].strip():
            yield Span(start, match.start())
        start = match.start()
    if text[start:].strip():
        yield Span(start, len(text))


def _make_reader(language: str, names: str) -> Reader:
    outline = OUTLINES.get(language)
    return Reader(
        version=f"code-{language}/1" if outline else "code/1",
        media_types={name.lower(): f"text/x-{language}" for name in names.split()},
        read=_read_written if language in MINIFIABLE else read,
        outline=outline,
    )


READERS = tuple(_make_reader(language, names) for language, names in _LANGUAGES.items())
