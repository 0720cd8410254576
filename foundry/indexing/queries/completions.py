"""Write the completions of queries: frequent words, and the headings of a corpus.

The places of words in headings are sorted by the text that follows there. Headings that are copied
from the previous index are in that order already; only new ones have to be inserted.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.files import (
    Rows,
    StoredRows,
    look_up,
    open_stored,
    split,
    write_array,
    write_stretches,
)
from foundry.indexing.handover import Handover
from foundry.indexing.previous import Previous
from foundry.indexing.queries.correction import weights_of
from foundry.indexing.queries.words import CorpusWords
from foundry.runtime.index.lines import hash_key
from foundry.runtime.retrieval.stages.suggestions import FOLDER, SuggestionsLayout, fold

MAX_HEADINGS = 200_000
MAX_HEADING_LENGTH = 120
"""Characters; a longer one is no query."""

MAX_HEADING_WORDS = 12

_WORD = re.compile(r"\w+")


class CompletionsBuilder:
    """Collects the headings of documents; those of a `previous` index are taken over."""

    def __init__(self, previous: Previous | None = None) -> None:
        self._keys, self._texts = Rows("Q"), Rows("B")
        self._previous = previous
        if previous is not None:
            self._previous_keys = StoredRows.open(previous.handover.offered)
            self._previous_texts = StoredRows.open(previous.handover.offered_texts)

    def add(self, headings: Iterable[str]) -> None:
        """Take the headings of the next document's chunks."""
        found = {
            heading: None
            for heading in map(" ".join, map(str.split, headings))
            if 0 < len(heading) <= MAX_HEADING_LENGTH
        }
        self._keys.add([hash_key(heading) for heading in found])
        for heading in found:
            self._texts.add(heading.encode("utf-8", "surrogatepass"))

    def carry(self, first: int, last: int) -> None:
        """Copy the documents from `first` to `last` of the previous index."""
        span = self._previous_keys.span(first, last)
        self._keys.carry(self._previous_keys, first, last)
        self._texts.carry(self._previous_texts, span.start, span.stop)

    def write(
        self, root: Path, words: CorpusWords, most_words: int, handover: Handover | None
    ) -> None:
        """Write the files, with the `most_words` most frequent words, into an index."""
        layout = SuggestionsLayout(root / FOLDER)
        layout.root.mkdir()
        _write_words(layout, words, most_words)
        keys, texts = self._keys.stored().columns[0], self._texts.stored()
        entries = np.sort(np.unique(keys, return_index=True)[1])[:MAX_HEADINGS]
        headings = [texts.bytes(entry) for entry in entries.tolist()]
        write_stretches(layout.headings, layout.heading_offsets, headings)
        places, goes_on = self._sort_places(keys[entries], headings)
        write_array(layout.places, places.astype(np.uint32))
        if handover is not None:
            self._keys.stored().write(handover.offered)
            texts.write(handover.offered_texts)
            write_array(handover.offered_keys, keys[entries])
            write_array(handover.offered_same, goes_on)

    def _sort_places(
        self, keys: NDArray[np.uint64], headings: Sequence[bytes]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the places (2, p) of words in `headings`, whose hashes are `keys`, and which of
        them go on like the one before."""
        previous = _PreviousPlaces.of(self._previous)
        order = np.argsort(keys)
        renumbered = look_up(previous.keys, keys[order], order)
        is_new = np.ones(len(keys), dtype=bool)
        is_new[renumbered[renumbered >= 0]] = False
        added = [
            (text, number, start)
            for number in np.flatnonzero(is_new).tolist()
            for text, start in _places_in(headings[number].decode("utf-8", "surrogatepass"))
        ]
        texts = sorted({text for text, *_ in added})
        firsts = [bisect_left(range(len(previous)), text, key=previous.text_at) for text in texts]
        # Texts that are not there yet come before the one that is in their place, in their order.
        ranks = {
            text: (first, len(texts) if previous.has(first, text) else rank)
            for rank, (text, first) in enumerate(zip(texts, firsts, strict=True))
        }
        numbers, starts = previous.places
        kept = np.flatnonzero(renumbered[numbers] >= 0)
        first, rank = (
            np.array([ranks[text][part] for text, *_ in added], dtype=np.int64) for part in (0, 1)
        )
        columns = [
            np.append(previous.firsts[kept], first),
            np.append(np.full(len(kept), len(texts)), rank),
            np.append(renumbered[numbers[kept]], [number for _, number, _ in added]),
            np.append(starts[kept], [start for *_, start in added]),
        ]
        ordered = np.stack(columns)[:, np.lexsort(columns[::-1])].astype(np.int64)
        is_same = np.all(ordered[:2, 1:] == ordered[:2, :-1], axis=0)
        return ordered[2:], np.append(np.zeros(min(1, ordered.shape[1]), dtype=bool), is_same)


class _PreviousPlaces:
    """The places (2, p) of the words in headings of an index, and the `keys` (h,) of these.

    `firsts` (p,) are the first places with the same text.
    """

    def __init__(
        self,
        keys: NDArray[np.uint64],
        places: NDArray[np.int64],
        goes_on: NDArray[np.bool_],
        headings: Sequence[bytes],
    ) -> None:
        self.keys, self.places, self._headings = keys, places, headings
        numbers = np.where(goes_on, 0, np.arange(len(goes_on)))
        self.firsts = np.maximum.accumulate(numbers) if len(numbers) else numbers

    @classmethod
    def of(cls, previous: Previous | None) -> "_PreviousPlaces":
        """Return the places of the previous index, or none."""
        if previous is None:
            none = np.zeros((2, 0), dtype=np.int64)
            return cls(none[0].astype(np.uint64), none, none[0].astype(bool), [])
        layout = SuggestionsLayout(previous.index.root / FOLDER)
        return cls(
            open_stored(previous.handover.offered_keys),
            open_stored(layout.places).astype(np.int64),
            open_stored(previous.handover.offered_same),
            split(layout.headings.read_bytes(), open_stored(layout.heading_offsets)),
        )

    def __len__(self) -> int:
        return len(self.firsts)

    def text_at(self, place: int) -> str:
        """Return the folded text that follows at a place."""
        number, start = self.places[:, place].tolist()
        return fold(self._headings[number].decode("utf-8", "surrogatepass"))[start:]

    def has(self, place: int, text: str) -> bool:
        """Return whether a text is the one that follows at a place."""
        return place < len(self) and self.text_at(place) == text


def _places_in(heading: str) -> list[tuple[str, int]]:
    folded = fold(heading)
    starts = [match.start() for match in _WORD.finditer(folded)][:MAX_HEADING_WORDS]
    return [(folded[start:], start) for start in starts]


def _write_words(layout: SuggestionsLayout, words: CorpusWords, most_words: int) -> None:
    chosen = sorted(words.most_frequent(most_words))
    # Words that begin sentences and headings are no names.
    texts = [words.best[word] for word in chosen]
    written = [(text if _is_name(text) else text.lower()).encode() for text in texts]
    write_stretches(layout.words, layout.word_offsets, written)
    write_array(layout.weights, weights_of([words.frequencies[word] for word in chosen]))


def _is_name(text: str) -> bool:
    return not (text.islower() or text.istitle())
