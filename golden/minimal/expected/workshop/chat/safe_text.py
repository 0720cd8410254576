"""Makes what a model writes safe piece by piece: checks its citations, and disarms its links.

A model may write what a hostile document told it. So, code included:

- a citation of a passage that does not exist is left out;
- a space parts `](`, `![`, `]:` and `<` before a tag or an address, so that links, images, their
  definitions, HTML and autolinks stay text (CommonMark 0.31, sections 4.6, 4.7 and 6.3 to 6.6);
- an address that no passage has becomes `https[:]//evil[.]example`, since many clients link bare
  ones (GitHub Flavored Markdown 0.29, section 6.9). Hosts without a scheme or `www.` are left.
"""

import re
from collections.abc import Iterable

MAX_HELD_CHARACTERS = 2_000

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
