"""Joins words that are hyphenated at the end of a line, unless the hyphen belongs to the word.

"re-" and "ceived" are one word, "well-" and "known" two; PDFium joins both without a hyphen. A
hyphenated word is also indexed as one word, so in doubt the hyphen is kept.
"""

import re
from collections.abc import Iterable
from functools import cache, cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from foundry.files import ENGLISH_STEMS
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.stages.nearest_words import hash_word

JOINT = "\ufffe"
"""PDFium's mark for the place where it joined a word hyphenated at the end of a line."""

_DIVIDED = re.compile(rf"(?<![^\W\d_])([^\W\d_]+)(?:{JOINT}|[-\u00ad\u2010]\n)([^\W\d_]+)")
_DIVISION = re.compile(rf"{JOINT}|[-\u00ad\u2010]\n")
_HYPHENATED = re.compile(r"[^\W\d_]+-[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+")


class DividedWords:
    """Joins the divided words of a document, given all of its lines."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = tuple(lines)

    def join(self, text: str) -> str:
        """Return a text of the document with its divided words joined."""
        if not _DIVISION.search(text):
            return text
        return _DIVIDED.sub(self._join, text).replace(JOINT, "-")

    def _join(self, match: re.Match[str]) -> str:
        first, second = match.groups()
        whole = f"{first}-{second}"
        return whole if self._has_hyphen(first, second) else first + second

    def _has_hyphen(self, first: str, second: str) -> bool:
        joined = (first + second).lower()
        if f"{first}-{second}".lower() in self._hyphenated:
            return True
        # "X-ray", "Jean-Paul" and "GPL-licensed", but not "HAR-BOUR".
        is_name = second[0].isupper() and not first.isupper()
        is_acronym = first.isupper() and not second.isupper()
        if is_name or is_acronym or len(first) == 1:
            return joined not in self._words
        if _is_english(joined) or joined in self._words:
            return False
        return _is_english(first) and _is_english(second)

    @cached_property
    def _hyphenated(self) -> frozenset[str]:
        """The words that the document itself writes with a hyphen inside a line."""
        lines = (line for line in self._lines if "-" in line)
        found = chain.from_iterable(map(_HYPHENATED.findall, lines))
        return frozenset(word.lower() for word in found)

    @cached_property
    def _words(self) -> frozenset[str]:
        """The words of the document, and the parts of its divided words."""
        found = chain.from_iterable(map(_WORD.findall, self._lines))
        return frozenset(word.lower() for word in found)


@cache
def _english() -> tuple[Tokenizer, NDArray[np.uint32]]:
    """Return the tokenizer, and the hashes of English stems in ascending order."""
    return Tokenizer("english"), np.load(ENGLISH_STEMS, allow_pickle=False)


def _is_english(word: str) -> bool:
    """Return whether a word is a common English one."""
    if not word.isascii():
        return False
    tokenizer, stems = _english()
    # Stop words have no stem.
    hashes = np.array([hash_word(stem) for stem in tokenizer.terms(word)], dtype=np.uint32)
    # `np.isin` would hash or sort all stems for each word.
    places = np.searchsorted(stems, hashes)
    return bool((stems.take(places, mode="clip") == hashes).all())
