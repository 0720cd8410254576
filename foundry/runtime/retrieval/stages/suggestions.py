"""Suggestions for a query while it is typed.

The last word is completed with the most frequent words of the corpus. Headings are offered if
they contain the query at the start of a word; headings that start with the query come first.
"""

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...index.layout import Vocabulary, open_array
from ...index.reader import Index, OpenedIndex
from ...index.records import Record
from ..timing import stage

FOLDER = "suggestions"  # In the folder of an index
MAX_WORDS, MAX_HEADINGS = 4, 6
MAX_RANKED = 256  # Maximum number of positions in headings from which the best are selected

_AFTER_ALL = "\U0010ffff"


class SuggestionsLayout:
    """The files of w words, h headings and p word positions in headings, below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.words = root / "words.bin"  # UTF-8, sorted by `fold`.
        self.word_offsets = root / "words.offsets.npy"  # uint64 (w + 1,)
        self.weights = root / "weights.npy"  # uint8 (w,): log frequency
        self.headings = root / "headings.bin"  # UTF-8
        self.heading_offsets = root / "headings.offsets.npy"  # uint64 (h + 1,)
        # uint32 (2, p): heading, offset in its `fold`; sorted by the text there
        self.places = root / "places.npy"


@dataclass(frozen=True, slots=True)
class Suggestion(Record):
    """A suggested query: the typed text with its last word completed, or a heading."""

    text: str
    kind: Literal["word", "heading"]


def fold(text: str) -> str:
    """Return a text normalised for comparison: NFKC, case-folded, on one line."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@dataclass(frozen=True, slots=True)
class Completions:
    """The words and headings of a corpus; see `SuggestionsLayout`."""

    words: Vocabulary
    weights: NDArray[np.uint8]
    headings: Vocabulary
    places: NDArray[np.uint32]

    @classmethod
    def open(cls, root: Path) -> "Completions":
        """Memory-map the files. Raises IndexUnusableError."""
        layout = SuggestionsLayout(root)
        words = Vocabulary.open(layout.words, layout.word_offsets)
        return cls(
            words,
            open_array(layout.weights, np.uint8, (len(words),)),
            Vocabulary.open(layout.headings, layout.heading_offsets),
            open_array(layout.places, np.uint32, (2, -1)),
        )

    def complete_word(self, beginning: str) -> list[str]:
        """Return up to MAX_WORDS longer words with a case-folded prefix, most frequent first."""
        span = _range(len(self.words), lambda n: fold(self.words[n].decode()), beginning)
        order = np.argsort(-self.weights[span.start : span.stop].astype(np.int64), kind="stable")
        found = [self.words[span.start + int(n)].decode() for n in order[: MAX_WORDS + 1]]
        return [word for word in found if fold(word) != beginning][:MAX_WORDS]

    def find_headings(self, query: str) -> list[str]:
        """Return up to MAX_HEADINGS headings with a case-folded query at the start of a word."""
        span = _range(self.places.shape[1], self._text_at, query)[:MAX_RANKED]
        places = self.places[:, span.start : span.stop].T.tolist()
        found = {number: self.headings[number].decode() for number, _ in reversed(places)}
        starts: dict[int, int] = {}
        for number, start in places:
            starts[number] = min(start, starts.get(number, start))
        order = sorted(found, key=lambda n: (starts[n] > 0, len(found[n]), found[n]))
        return [found[number] for number in order[:MAX_HEADINGS]]

    def _text_at(self, place: int) -> str:
        number, start = self.places[:, place].tolist()
        return fold(self.headings[number].decode())[start:]


def _range(count: int, text_of: Callable[[int], str], beginning: str) -> range:
    """Return the range of sorted texts with a prefix."""
    numbers = range(count)
    first = bisect_left(numbers, beginning, key=text_of)
    return range(first, bisect_right(numbers, beginning + _AFTER_ALL, lo=first, key=text_of))


def open_completions(index: OpenedIndex) -> Completions:
    """Memory-map the completions of an index. Raises IndexUnusableError."""
    return Completions.open(index.layout.root / FOLDER)


@stage("suggest")
def suggest(index: Index, query: str) -> list[Suggestion]:
    """Return suggestions for a query; none for a blank one."""
    completions, folded = index.part(open_completions), fold(query)
    if not folded:
        return []
    found = [Suggestion(text, "heading") for text in completions.find_headings(folded)]
    typed = query.rstrip()
    last = typed.split()[-1]
    if typed == query and (last[-1].isalnum() or last[-1] == "_"):
        before = typed[: len(typed) - len(last)]
        words = completions.complete_word(fold(last))
        headings = {fold(suggestion.text) for suggestion in found}
        completed = [Suggestion(before + word, "word") for word in words]
        found = [one for one in completed if fold(one.text) not in headings] + found
    return found
