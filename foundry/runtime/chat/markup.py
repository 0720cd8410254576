"""Marks of Markdown and HTML in an answer, written so that no client makes a link or image of them.

A model writes what a hostile document may have told it. So that it can neither forge a citation nor
have an address called, everywhere in an answer, code included:

- a space parts `](`, `![`, `]:` and `<` before a tag, a comment or an address, so that links,
  images, their definitions, raw HTML and `<https://...>` stay text (CommonMark 0.31, sections 4.6,
  4.7 and 6.3 to 6.6);
- an address that no passage has is written `https[:]//evil[.]example`, since many clients link bare
  ones (GitHub Flavored Markdown 0.29, section 6.9). Those of the passages stay as they are.

A space, unlike a backslash or an entity, reads the same in code as elsewhere. Names of hosts
without a scheme or `www.`, and e-mail addresses, are left alone.
"""

import re
from collections.abc import Iterable

MAX_ADDRESS_LENGTH = 2_000
"""Characters; a longer address is none of a passage's."""

_MARKS = re.compile(r"\](?=[(:])|!(?=\[)|<(?=[A-Za-z/!?])")
_OPENINGS = ("https://", "http://", "ftp://", "www.")
_ADDRESS = re.compile(r"(?:https?://|ftp://|www\.)[^\s<>]*", re.IGNORECASE)
_DOT = re.compile(r"\.(?=\w)")
_AFTER = ".,;:!?)]}>'\"*_~`"
_BEGUN = "|".join(
    re.escape(opening[:length])
    for opening in _OPENINGS
    for length in range(len(opening) - 1, 0, -1)
)
_GROWING = rf"(?:(?:https?://|ftp://|www\.)[^\s<>]*|(?:{_BEGUN}))"
_UNFINISHED = re.compile(rf"(?:[\]!<]+{_GROWING}?|{_GROWING})$", re.IGNORECASE)


class MarkupFilter:
    """Passes a streamed text on, with its links, images and HTML disarmed.

    What may still become a mark or an address is held back until it is whole.
    """

    def __init__(self, passages: Iterable[str]) -> None:
        """Let the addresses be that stand in the `passages`."""
        self._known = {
            address
            for passage in passages
            for match in _ADDRESS.finditer(passage)
            for address in _endings(match[0])
        }
        self._held = ""

    def feed(self, text: str) -> str:
        """Take the next piece; returns what can be passed on."""
        text = self._held + text
        unfinished = _UNFINISHED.search(text, max(0, len(text) - MAX_ADDRESS_LENGTH))
        end = unfinished.start() if unfinished else len(text)
        self._held = text[end:]
        return self._disarm(text[:end])

    def finish(self) -> str:
        """What was held back until the end of the text."""
        rest, self._held = self._held, ""
        return self._disarm(rest)

    def _disarm(self, text: str) -> str:
        return _MARKS.sub(r"\g<0> ", _ADDRESS.sub(self._check, text))

    def _check(self, match: re.Match[str]) -> str:
        address = match[0]
        if any(ending in self._known for ending in _endings(address)):
            return address
        return _DOT.sub("[.]", address.replace("://", "[:]//"))


def disarm_address(address: str) -> str:
    """An address that stays one, without marks of Markdown or HTML."""
    return _MARKS.sub(lambda mark: f"%{ord(mark[0]):02X}", address)


def disarm(text: str, passages: Iterable[str] = ()) -> str:
    """A whole text, as `MarkupFilter` passes it on."""
    markup = MarkupFilter(passages)
    return markup.feed(text) + markup.finish()


def _endings(address: str) -> list[str]:
    """An address with and without the marks after it, which may end it or the sentence."""
    return [address, address.rstrip(_AFTER)]
