"""Finds where the sentences of a text end, for chunks, titles and answers."""

import re
from collections.abc import Iterator

_CLOSING = "\"')\\]\u00bb\u2019\u201d\u300b\u300d\u300f\u3011\uff09"
_END = re.compile(
    rf"(?P<stop>(?<=[.!?\u2026\u061f\u0964\u0965\u06d4\u1362])[{_CLOSING}]*\s+)"
    rf"|(?<=[\u3002\uff01\uff1f\uff61])[{_CLOSING}]*\s*"
    r"|[ \t]*\n(?:[ \t]*\n)+"
    r"|[ \t]*\n(?=[ \t]*(?:[-*+\u2022]|[0-9]{1,3}[.)])[ \t])"
)
"""After a stop and a space, after a stop of Chinese or Japanese, after a paragraph or an item."""

_NO_END = re.compile(
    r"(?:^|[\s(\[])(?:[A-Za-z]|e\.g|i\.e|a\.m|p\.m|cf|ca|etc|vs|no|nos|fig|figs|eq|sec|art|approx|dr"
    r"|mr|mrs|ms|prof|st|p|pp|vol|ch|ed|eds|inc|ltd|co|al|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct"
    r"|nov|dec)\.$|(?:^|\n)[ \t>]*[0-9]{1,3}\.$",
    re.IGNORECASE,
)
_LONGEST_ABBREVIATION = 8
_CODE = re.compile(r"`[^`\n]{1,300}`")


def find_sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the offsets at which a new sentence begins within `text[start:end]`, in order.

    Not after an abbreviation, an initial or an item's number, not before a word in lower case, and
    not within a span of code.
    """
    spans = _CODE.finditer(text, start, end)
    code = next(spans, None)
    for match in _END.finditer(text, start, end):
        while code is not None and code.end() <= match.start():
            code = next(spans, None)
        is_within_code = code is not None and code.start() < match.start()
        if start < match.end() < end and not is_within_code and not _goes_on(text, start, match):
            yield match.end()


def _goes_on(text: str, start: int, match: re.Match[str]) -> bool:
    if match["stop"] is None or match[0].count("\n") > 1:
        return False
    before = max(start, match.start() - _LONGEST_ABBREVIATION)
    is_abbreviation = _NO_END.search(text, before, match.start()) is not None
    return is_abbreviation or text[match.end() : match.end() + 1].islower()
