"""What a language model writes, made safe as it streams.

A model may write what a hostile document told it. So citations of no passage are left out, a space
parts the marks of links, images and HTML, and an address that no passage has becomes
`https[:]//evil[.]example`, since many clients link bare ones.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial

from .text import part_marks

MAX_HELD_CHARACTERS = 2_000

# A number of four digits or more, such as a year, is no citation.
_CITATION = re.compile(r"[ \t]*\[ ?[0-9]{1,3}(?: ?[,;\u2013-] ?[0-9]{1,3}){0,20} ?\]")
_GROWING_CITATION = re.compile(r"[ \t]+$|[ \t]*\[[0-9 ,;\u2013-]{0,120}$")

_ADDRESS = re.compile(r"(?:https?://|ftp://|www\.)[^\s<>]*", re.IGNORECASE)
_BEGUN = "h|ht|htt|https?|https?:/?|f|ft|ftp|ftp:/?|w|ww|www"
_GROWING_ADDRESS = rf"(?:{_ADDRESS.pattern}|(?:{_BEGUN}))"
_GROWING_MARK = re.compile(rf"(?:[\]!<]+{_GROWING_ADDRESS}?|{_GROWING_ADDRESS})$", re.IGNORECASE)


class _Filter:
    """Passes a streamed text on, cleaned, but holds back an end that the next piece may change."""

    def __init__(self, growing: re.Pattern[str], clean: Callable[[str], str]) -> None:
        self._growing = growing
        self._clean = clean
        self._held = ""

    def feed(self, text: str) -> str:
        """Take the next piece; return what can be passed on."""
        text = self._held + text
        growing = self._growing.search(text, max(0, len(text) - MAX_HELD_CHARACTERS))
        end = growing.start() if growing else len(text)
        self._held = text[end:]
        return self._clean(text[:end])

    def finish(self) -> str:
        """Return the text that was held back until the end."""
        return self._clean(self._held).rstrip(" \t")


class CitationFilter(_Filter):
    """Takes out citations of passages that do not exist; `[1-3]` becomes `[1][2][3]`."""

    def __init__(self, passage_count: int) -> None:
        super().__init__(_GROWING_CITATION, partial(_CITATION.sub, self._check))
        self.cited: list[int] = []
        self._passage_count = passage_count

    def _check(self, group: re.Match[str]) -> str:
        spans = re.findall(r"([0-9]+)(?: ?[\u2013-] ?([0-9]+))?", group[0])
        numbers = dict.fromkeys(
            number
            for first, last in spans
            for number in range(int(first), int(last or first) + 1)
            if 1 <= number <= self._passage_count
        )
        self.cited += [number for number in numbers if number not in self.cited]
        space = group[0].partition("[")[0]
        return space + "".join(f"[{number}]" for number in numbers) if numbers else ""


class MarkupFilter(_Filter):
    """Disarms links, images, HTML and any address that does not occur in the `passages`."""

    def __init__(self, passages: Iterable[str]) -> None:
        super().__init__(_GROWING_MARK, lambda text: part_marks(_ADDRESS.sub(self._check, text)))
        addresses = (match[0] for text in passages for match in _ADDRESS.finditer(text))
        self._known = {ending for address in addresses for ending in _endings(address)}

    def _check(self, match: re.Match[str]) -> str:
        if not self._known.isdisjoint(_endings(match[0])):
            return match[0]
        return re.sub(r"\.(?=\w)", "[.]", match[0].replace("://", "[:]//"))


def _endings(address: str) -> tuple[str, str]:
    # Marks after an address may end it or the sentence.
    return address, address.rstrip(".,;:!?)]}>'\"*_~`")
