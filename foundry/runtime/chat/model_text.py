"""Makes the output of a language model safe, as it streams.

A model may repeat instructions from a hostile document. So citations of nonexistent passages are
removed, a space is inserted into the markup of links, images and HTML, and a URL that occurs in no
passage becomes `https[:]//evil[.]example`, since many clients link bare URLs. Code is unchanged
except for such URLs, which clients that show plain text would also link; `http://localhost` stays.
"""

import re
from collections.abc import Iterable

from .markdown_code import LINE_END, MAX_LINE, CodeTracker
from .text import MARKS

MAX_HELD_CHARACTERS = 2_000
MAX_PASSAGE_NUMBER = 20  # The most passages that a request can ask for

_SPACE = r"(?<![ \t])[ \t]+|"
_DASH = "\u2010-\u2015-"
_OPEN, _CLOSE = r"\[\u3010\uff3b", r"\]\u3011\uff3d"


def _begun(word: str) -> str:
    """Return a pattern for any prefix of a word, including the whole."""
    return "" if not word else f"(?:{re.escape(word[0])}{_begun(word[1:])})?"


# A number of four or more digits, such as a year, is not a citation.
_ONE = r"(?:(?:passages?|sources?|documents?) )?[0-9]{1,3}"
_MANY = rf"(?:{_ONE} ?[,;&{_DASH}] ?){{0,20}}"
_TAIL = rf"(?::[0-9]{{1,3}})?(?:\u2020[^\n{_OPEN}{_CLOSE}]{{0,60}})?"
_UNIT = (
    "%|\u00b0|percent|[mcdkn\u00b5\u03bc]?m|[km\u00b5\u03bc]?g|m?s|min|h|[mk]?V|m?A|[mk]?W|[kMG]?Hz"
    "|[kM]?Pa|m?bar|[mdc]?l|[kKMG]i?B|px|pt|dB|rpm|inch(?:es)?|feet|ft|years?|days?|hours?"
)
_CITATION = re.compile(
    rf"(?P<space>{_SPACE})[{_OPEN}](?P<foot>\^)? ?(?P<numbers>{_MANY}{_ONE}){_TAIL} ?(?(foot)\^?)"
    rf"[{_CLOSE}]"
    rf"(?:(?P<unit> ?(?:{_UNIT})(?![^\W_]))|(?P<counted>\{{[0-9]|\+)|(?P<word> ?[^\W_]))?",
    re.IGNORECASE,
)
_BEGUN_ITEM = "|".join(f"{_begun(word)}s? ?" for word in ("passage", "source", "document"))
_GROWING_CITATION = re.compile(
    rf"(?<![ \t])[ \t]+$|(?:{_SPACE})[{_OPEN}]\^? ?{_MANY}"
    rf"(?:{_BEGUN_ITEM}|{_ONE} ?[,;&{_DASH}]? ?|{_ONE}{_TAIL}:? ?\^?"
    rf"(?:[{_CLOSE}] ?(?:[{{%\u00b0]|[^\W\d_]{{0,7}}))?)$",
    re.IGNORECASE,
)
_SPAN = re.compile(rf"([0-9]+)(?: ?[{_DASH}] ?(?:[a-z]+ )?([0-9]+))?", re.IGNORECASE)
# Brackets after a letter or digit are an index, as in `argv[0]` or `m[7][8]`. Only ASCII counts:
# other scripts have no space before a citation.
_INDEXED = re.compile(r"[A-Za-z0-9_](?:\[[0-9]{1,3}\])*\Z")

_ADDRESS = re.compile(r"(?:https?://|ftp://|www\.)[^\s<>`]*", re.IGNORECASE)
_ADDRESS_IN_CODE = re.compile(r"(?:https?://|ftp://|www\.)[^\s<>\"'`|\\]*", re.IGNORECASE)
_BEGUN = "h|ht|htt|https?|https?:/?|f|ft|ftp|ftp:/?|w|ww|www"
_GROWING_ADDRESS = rf"(?:{_ADDRESS.pattern}|(?:{_BEGUN}))"
_GROWING_MARK = re.compile(
    rf"(?:(?:{_ADDRESS.pattern})?[\]!<]+{_GROWING_ADDRESS}?|{_GROWING_ADDRESS})$", re.IGNORECASE
)
_MARK = re.compile(rf"{MARKS.pattern}|{_ADDRESS.pattern}", re.IGNORECASE)
# This machine, private host names, or placeholders.
_OWN_HOST = re.compile(
    r"https?://(?:(?:127\.[0-9.]+|0\.0\.0\.0|\[::1?\]|[A-Za-z_${(][\w${}()-]*)?(?::[\w${}]+)?)"
    r"(?:[/?#](?:(?!www\.|://).)*)?\Z",
    re.ASCII | re.IGNORECASE,
)


class _Filter:
    """Passes on cleaned text, but holds back what later input may change."""

    mark: re.Pattern[str]
    growing: re.Pattern[str]

    def __init__(self) -> None:
        self._code = CodeTracker()
        self._line = ""  # The current line; part of it was passed on
        self._passed = 0

    def feed(self, text: str) -> str:
        """Take the next chunk; return what can be passed on."""
        text, start, said = self._line + text, 0, ""
        for end in LINE_END.finditer(text):
            said += self._end(text[start : end.start()]) + end[0]
            start = end.end()
        self._line = text[start:]
        said += self._pass(self._line.removesuffix("\r"), is_whole=False)
        if self._passed > 2 * MAX_LINE:
            # Only the beginning of the line, and the text near the offset, are still needed.
            kept = self._line[: MAX_LINE + 1] + self._line[self._passed - MAX_LINE // 2 :]
            self._passed -= len(self._line) - len(kept)
            self._line = kept
        return said

    def finish(self) -> str:
        """Return the text that was held back until the end."""
        return self._end(self._line).rstrip(" \t")

    def _end(self, line: str) -> str:
        said = self._pass(line, is_whole=True)
        self._code.end_line(line)
        self._passed = 0
        return said

    def _pass(self, line: str, *, is_whole: bool) -> str:
        """Return the next part of a line, up to text that later input may change."""
        start, end = self._passed, len(line)
        growing = None
        if not is_whole:
            growing = self.growing.search(line, max(start, end - MAX_HELD_CHARACTERS))
        end = growing.start() if growing else end
        self._passed = end
        # The search includes the next character, because a mark may depend on it.
        if not self.mark.search(line, start, end + 1):
            return line[start:end]
        spans, told = self._code.read(line, is_whole=is_whole)
        if told < end and (mark := self.mark.search(line, max(start, told), end + 1)):
            self._passed = end = min(end, mark.start())
        said = ""
        for first, last in [*(span for span in spans if span[1] > start), (end, end)]:
            first, last = min(max(first, start), end), min(last, end)
            said += self.clean(line, start, first)
            start = max(start, last)
            said += self.clean_code(line, first, start)
        return said

    def clean(self, line: str, start: int, end: int) -> str:
        """Return a cleaned part of a line, which is not code."""
        raise NotImplementedError

    def clean_code(self, line: str, start: int, end: int) -> str:
        """Return a cleaned part of code; unchanged by default."""
        return line[start:end]


class CitationFilter(_Filter):
    """Removes citations of nonexistent passages; `[1-3]` becomes `[1][2][3]`.

    Other numbers in brackets are unchanged: indexes, intervals, character classes. Citations in
    other kinds of brackets become `[1]`.
    """

    mark, growing = _CITATION, _GROWING_CITATION

    def __init__(self, passage_count: int) -> None:
        super().__init__()
        self.cited: list[int] = []
        self._passage_count = passage_count

    def clean(self, line: str, start: int, end: int) -> str:
        """Return a part of a line without invalid citations."""
        said = ""
        for group in _CITATION.finditer(line, start, end):
            after = group["unit"] or group["counted"] or group["word"] or ""
            last = group.end() - len(after)
            said += line[start : group.start()]
            is_data = self._is_data(group)
            said += line[group.start() : last] if is_data else self._check(group)
            start = last
        return said + line[start:end]

    def _is_data(self, group: re.Match[str]) -> bool:
        """Return whether a group of numbers is data instead of a citation."""
        written = group["numbers"]
        ends = [*map(int, re.findall("[0-9]+", written))]
        is_known = all(1 <= number <= self._passage_count for number in ends)
        if not written.isdigit():
            is_odd = group["foot"] or group["unit"] or group["counted"]
            is_far = min(ends) > self._passage_count or max(ends) > MAX_PASSAGE_NUMBER
            return bool(is_odd or 0 in ends or is_far or (group["word"] and not is_known))
        if is_known or group["space"]:
            return bool(group["counted"] and group["counted"] != "+")
        start = group.start()
        return _INDEXED.search(group.string[max(0, start - 60) : start]) is not None

    def _check(self, group: re.Match[str]) -> str:
        numbers = dict.fromkeys(
            number
            for first, last in _SPAN.findall(group["numbers"])
            for number in range(int(first), int(last or first) + 1)
            if 1 <= number <= self._passage_count
        )
        self.cited += [number for number in numbers if number not in self.cited]
        cited = "".join(f"[{number}]" for number in numbers)
        return group["space"] + cited if numbers else ""


class MarkupFilter(_Filter):
    """Disarms links, images, HTML and any URL that does not occur in the `passages`."""

    mark, growing = _MARK, _GROWING_MARK

    def __init__(self, passages: Iterable[str]) -> None:
        super().__init__()
        self._known = {
            ending
            for text in passages
            for pattern in (_ADDRESS, _ADDRESS_IN_CODE)
            for match in pattern.finditer(text)
            for ending in _endings(match[0])
        }

    def clean(self, line: str, start: int, end: int) -> str:
        """Return a part of a line with links, images, HTML and unknown URLs disarmed."""
        said = ""
        for mark in MARKS.finditer(line, start):
            if mark.end() > end:
                break
            said += line[start : mark.end()] + " "
            start = mark.end()
        return _ADDRESS.sub(self._check, said + line[start:end])

    def clean_code(self, line: str, start: int, end: int) -> str:
        """Return a part of code with unknown URLs disarmed, except those of this machine."""
        return _ADDRESS_IN_CODE.sub(self._check_in_code, line[start:end])

    def _check_in_code(self, match: re.Match[str]) -> str:
        return match[0] if _OWN_HOST.match(match[0]) else self._check(match)

    def _check(self, match: re.Match[str]) -> str:
        if not self._known.isdisjoint(_endings(match[0])):
            return match[0]
        return re.sub(r"\.(?=\w)", "[.]", match[0].replace("://", "[:]//"))


def _endings(address: str) -> tuple[str, str]:
    # Punctuation after a URL may belong to it or to the sentence.
    return address, address.rstrip(".,;:!?)]}>'\"*_~`")
