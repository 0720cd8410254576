"""The text of answers: sentences taken out of passages, and what a model writes made safe.

A model may write what a hostile document told it. So, piece by piece and code included:

- a citation of a passage that does not exist is left out;
- a space parts `](`, `![`, `]:` and `<` before a tag or an address, so that links, images, their
  definitions, HTML and autolinks stay text (CommonMark 0.31, sections 4.6, 4.7 and 6.3 to 6.6);
- an address that no passage has becomes `https[:]//evil[.]example`, since many clients link bare
  ones (GitHub Flavored Markdown 0.29, section 6.9). Hosts without a scheme or `www.` are left.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise, zip_longest

MIN_SENTENCE, MAX_SENTENCE = 20, 400  # Characters; a longer one is cut.
MAX_HELD_CHARACTERS = 2_000

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
_LONGEST_ABBREVIATION = 8
_CODE_SPAN = re.compile(r"`[^`\n]{1,300}`")

_CODE_BLOCK = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z).*?$", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(
    r"^[ \t]*(\|.*)\n[ \t]*\|(?=[^\n]*-)[ \t|:-]++$((?:\n[ \t]*\|.*)*)", re.MULTILINE
)
_CELL_END = re.compile(r"(?<!\\)\|")
_HEADING_OR_RULE = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t].*|=+|[-*_][-*_ \t]*|(?=.*\|)[ \t|:+-]+)[ \t]*$", re.MULTILINE
)
_BLOCK = re.compile(
    r"\n[ \t]*(?=\n)|^[ \t]*(?:(?:[-*+]|[0-9]{1,3}[.)])[ \t]+|>[ \t]?|(?=\|))|\|[ \t]*$",
    re.MULTILINE,
)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
# Bounded, or many marks that are never closed would take quadratic time.
_EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.{1,200}?)(?<=\S)\1")
_NUMBER = re.compile(r"\[([0-9 ,;\u2013-]+)\]")

_GROUP = re.compile(r"[ \t]*\[ ?(?P<numbers>[0-9]{1,3}(?: ?[,;\u2013-] ?[0-9]{1,3}){0,20}) ?\]")
_SPAN = re.compile(r"([0-9]+)(?: ?[\u2013-] ?([0-9]+))?")
_GROWING_GROUP = re.compile(r"[ \t]+$|[ \t]*\[[0-9 ,;\u2013-]{0,120}$")

MARKS = re.compile(r"\](?=[(:])|!(?=\[)|<(?=[A-Za-z/!?])")
_ADDRESS = re.compile(r"(?:https?://|ftp://|www\.)[^\s<>]*", re.IGNORECASE)
_AFTER_ADDRESS = ".,;:!?)]}>'\"*_~`"
_BEGUN = "|".join(
    re.escape(opening[:length])
    for opening in ("https://", "http://", "ftp://", "www.")
    for length in range(len(opening) - 1, 0, -1)
)
_GROWING_ADDRESS = rf"(?:{_ADDRESS.pattern}|(?:{_BEGUN}))"
_GROWING_MARK = re.compile(rf"(?:[\]!<]+{_GROWING_ADDRESS}?|{_GROWING_ADDRESS})$", re.IGNORECASE)


def find_sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the offsets at which a new sentence begins within `text[start:end]`, in order.

    Not after an abbreviation, an initial or an item's number, not before a word in lower case, and
    not within a span of code.
    """
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
    before = max(start, match.start() - _LONGEST_ABBREVIATION)
    is_abbreviation = _NO_END.search(text, before, match.start()) is not None
    return is_abbreviation or text[match.end() : match.end() + 1].islower()


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences, list items and table rows of Markdown, as plain text of bounded length.

    Headings and code blocks are left out; a row names the columns of its values. A number in square
    brackets gets round ones, so that nothing looks like a citation.
    """
    text = _TABLE.sub(_name_columns, _CODE_BLOCK.sub("\n", text))
    for block in _BLOCK.split(_HEADING_OR_RULE.sub("\n", text)):
        if block.lstrip().startswith("|"):
            block = ", ".join(filter(None, _cells(block)))
        plain = _LINK.sub(r"\1", _WIKILINK.sub(r"\1", " ".join(block.split())))
        plain = _EMPHASIS.sub(r"\2", plain)
        plain = _NUMBER.sub(r"(\1)", plain)
        for start, end in pairwise([0, *find_sentence_ends(plain, 0, len(plain)), len(plain)]):
            sentence = shorten(plain[start:end].strip(), MAX_SENTENCE)
            if len(sentence) >= MIN_SENTENCE:
                yield sentence


def _name_columns(table: re.Match[str]) -> str:
    names, rows = _cells(table[1]), [_cells(line) for line in table[2].split("\n") if line.strip()]
    return "\n".join(
        "\n"
        + "; ".join(
            f"{name}: {value}" if name else value
            for name, value in zip_longest(names, row, fillvalue="")
            if value
        )
        for row in rows
    )


def _cells(line: str) -> list[str]:
    cells = _CELL_END.split(line.strip().removeprefix("|").removesuffix("|"))
    return [cell.strip().replace("\\|", "|") for cell in cells]


def shorten(text: str, limit: int) -> str:
    """Return the text, cut at a space and marked with dots if it is longer than `limit`."""
    if len(text) <= limit:
        return text
    mark = " ..."
    cut = text[: max(0, limit - len(mark))]
    return cut[: cut.rfind(" ") if " " in cut[len(cut) // 2 :] else None].rstrip() + mark


class _Filter:
    """Passes a streamed text on, but holds back an end that the next piece may change."""

    _growing: re.Pattern[str]

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """Take the next piece; return what can be passed on."""
        text = self._held + text
        growing = self._growing.search(text, max(0, len(text) - MAX_HELD_CHARACTERS))
        end = growing.start() if growing else len(text)
        self._held = text[end:]
        return self._pass(text[:end])

    def finish(self) -> str:
        """Return what was held back until the end of the text."""
        rest, self._held = self._held, ""
        return self._pass(rest).rstrip(" \t")

    def _pass(self, text: str) -> str:
        raise NotImplementedError


class CitationFilter(_Filter):
    """Takes out citations of passages that do not exist; `[1-3]` becomes `[1][2][3]`.

    A number of four digits or more, such as a year, is no citation.
    """

    _growing = _GROWING_GROUP

    def __init__(self, passage_count: int) -> None:
        super().__init__()
        self.cited: list[int] = []
        self._passage_count = passage_count

    def _pass(self, text: str) -> str:
        return _GROUP.sub(self._check, text)

    def _check(self, group: re.Match[str]) -> str:
        spans = [(int(first), int(last or first)) for first, last in _SPAN.findall(group[0])]
        numbers = dict.fromkeys(n for first, last in spans for n in range(first, last + 1))
        known = [number for number in numbers if 1 <= number <= self._passage_count]
        self.cited += [number for number in known if number not in self.cited]
        space = group[0].partition("[")[0]
        return space + "".join(f"[{number}]" for number in known) if known else ""


class MarkupFilter(_Filter):
    """Disarms links, images, HTML and any address that does not occur in the `passages`."""

    _growing = _GROWING_MARK

    def __init__(self, passages: Iterable[str]) -> None:
        super().__init__()
        addresses = (match[0] for text in passages for match in _ADDRESS.finditer(text))
        self._known = {ending for address in addresses for ending in _endings(address)}

    def _pass(self, text: str) -> str:
        return MARKS.sub(r"\g<0> ", _ADDRESS.sub(self._check, text))

    def _check(self, match: re.Match[str]) -> str:
        if not self._known.isdisjoint(_endings(match[0])):
            return match[0]
        return re.sub(r"\.(?=\w)", "[.]", match[0].replace("://", "[:]//"))


def disarm(text: str, passages: Iterable[str] = ()) -> str:
    """Return a whole text as `MarkupFilter` passes it on."""
    markup = MarkupFilter(passages)
    return markup.feed(text) + markup.finish()


def _endings(address: str) -> tuple[str, str]:
    """Return an address with and without the marks after it, which may end it or the sentence."""
    return address, address.rstrip(_AFTER_ADDRESS)
