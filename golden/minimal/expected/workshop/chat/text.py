"""The text of answers: the sentences of Markdown, as plain text that nothing in it formats."""

import re
from collections.abc import Iterator
from itertools import pairwise, zip_longest

from ..retrieval.lists import LIST

MIN_SENTENCE, MAX_SENTENCE = 20, 400  # Characters; a longer one is cut.

_CLOSING = "\"')\\]\u00bb\u2019\u201d\u300b\u300d\u300f\u3011\uff09"
# After a stop and a space, after a stop of Chinese or Japanese, after a paragraph or an item.
_END = re.compile(
    rf"(?P<stop>(?<=[.!?\u2026\u061f\u0964\u0965\u06d4\u1362])[{_CLOSING}]*\s+)"
    rf"|(?<=[\u3002\uff01\uff1f\uff61])[{_CLOSING}]*\s*"
    r"|[ \t]*\n(?:[ \t]*\n)+"
    r"|[ \t]*\n(?=[ \t]*(?:[-*+\u2022]|[0-9]{1,3}[.)])[ \t])"
)
_NO_END = re.compile(
    r"(?:^|[\s(\[])(?:[A-Za-z]|e\.g|i\.e|a\.m|p\.m|cf|ca|etc|vs|no|nos|fig|figs|eq|sec|art|approx|dr"
    r"|mr|mrs|ms|prof|st|p|pp|vol|ch|ed|eds|inc|ltd|co|al|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct"
    r"|nov|dec)\.$|(?:^|\n)[ \t>]*[0-9]{1,3}\.$",
    re.IGNORECASE,
)
_ITEM = re.compile(
    r"^[ \t]*(?:(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+|(?=\(\w{1,5}\)[ \t]))", re.MULTILINE
)
_CODE_SPAN = re.compile(r"`[^`\n]{1,300}`")

_CODE_BLOCK = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z).*?$", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(
    r"^[ \t]*(\|.*)\n[ \t]*\|(?=[^\n]*-)[ \t|:-]++$((?:\n[ \t]*\|.*)*)", re.MULTILINE
)
_HEADING_OR_RULE = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t].*|=+|[-*_][-*_ \t]*|(?=.*\|)[ \t|:+-]+)[ \t]*$", re.MULTILINE
)
_BLOCK = re.compile(
    r"\n[ \t]*(?=\n)|^[ \t]*(?:(?:[-*+]|[0-9]{1,3}[.)])[ \t]+|>[ \t]?|(?=\|))|\|[ \t]*$",
    re.MULTILINE,
)
# Of what follows, nothing is meant within code; so a span of it is passed over as a whole.
_CODE_OR = rf"({_CODE_SPAN.pattern})|"
_LINK = re.compile(
    _CODE_OR + r"!?\[([^\[\]]*)\]\([^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+(?:\s+\"[^\"]*\")?\)"
)
_WIKILINK = re.compile(_CODE_OR + r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
# Bounded, or many marks that are never closed would take quadratic time.
_EMPHASIS = re.compile(_CODE_OR + r"(\*\*|(?<!\w)__(?=[^_]* ))(?=\S)(.{1,200}?)(?<=\S)\2(?!\*)")
_NUMBER = re.compile(r"\[([0-9 ,;\u2013-]+)\]")

MARKS = re.compile(r"\](?=[(:])|!(?=\[)|<(?=[A-Za-z/!?])")


def find_sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the offsets at which a new sentence begins within `text[start:end]`, in order."""
    spans = _CODE_SPAN.finditer(text, start, end)
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
    before = max(start, match.start() - 8)  # The longest abbreviation, and what is before it.
    is_abbreviation = _NO_END.search(text, before, match.start()) is not None
    return is_abbreviation or text[match.end() : match.end() + 1].islower()


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences, list items and table rows of Markdown, each cut.

    Less is taken out than of snippets: spans of code stay, which chats show as code.
    """
    if f"\n{text}".count("\n```") % 2 and text.endswith("\n```"):
        text = f"```\n{text}"  # The block of code began in an earlier chunk.
    text = _TABLE.sub(_name_columns, _CODE_BLOCK.sub("\n", text.replace("\\\n", "\n")))
    text = _HEADING_OR_RULE.sub("\n", text)
    # Of a list, each item is said with what introduces it.
    text = LIST.sub(lambda one: _ITEM.sub(lambda _: "\n\n" + one["stem"], one["items"]), text)
    for block in _BLOCK.split(text):
        if block.lstrip().startswith("|"):
            block = ", ".join(filter(None, _cells(block)))
        plain = _LINK.sub(r"\1\2", _WIKILINK.sub(r"\1\2", " ".join(block.split())))
        # A number in square brackets would look like a citation.
        plain = _NUMBER.sub(r"(\1)", _EMPHASIS.sub(r"\1\3", plain))
        for start, end in pairwise([0, *find_sentence_ends(plain, 0, len(plain)), len(plain)]):
            sentence = shorten(plain[start:end].strip(), MAX_SENTENCE)
            if len(sentence) >= MIN_SENTENCE:
                yield sentence


def _name_columns(table: re.Match[str]) -> str:
    text, names = "", _cells(table[1])
    for row in filter(str.strip, table[2].split("\n")):
        pairs = zip_longest(names, _cells(row), fillvalue="")
        named = (f"{name}: {value}" if name else value for name, value in pairs if value)
        text += "\n\n" + "; ".join(named)
    return text


def _cells(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    return [cell.strip().replace("\\|", "|") for cell in cells]


def shorten(text: str, limit: int) -> str:
    """Return the text, cut at a space and marked with dots if it is longer than `limit`."""
    if len(text) <= limit:
        return text
    cut = text[: max(0, limit - len(" ..."))]
    return cut[: cut.rfind(" ") if " " in cut[len(cut) // 2 :] else None].rstrip() + " ..."


def part_marks(text: str) -> str:
    """Return a text with a space after each mark that would begin a link, an image or HTML.

    Those of CommonMark 0.31, sections 4.6, 4.7 and 6.3 to 6.6.
    """
    return MARKS.sub(r"\g<0> ", text)
