"""Finds the word of the corpus, or of a dictionary, that is nearest to a misspelt one.

The distance is Damerau-Levenshtein (optimal string alignment): an edit is a letter missing, added
or replaced, or two neighbours swapped. Among words at the same distance, frequency and the
likelihood of the edit decide. Words are compared in three passes, each on fewer words: by length,
by the set of letters (an edit changes at most two), and by letters. Words two edits away are
considered only if none is nearer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ...errors import IndexUnusableError
from ...index.layout import Vocabulary, open_array

MIN_LENGTH, MAX_LENGTH = 3, 24  # Lengths of the words that are kept.
# Shortest word that may have two edits, which would turn a shorter word into many others.
MIN_TWO_EDITS = 8
MAX_COMPARED = 256  # Words compared letter by letter: those with the nearest sets of letters.
# Advantage of an edit that drops a letter or swaps two, in units of `weights` (12 per doubling): a
# word has 25 times as many edits that add or replace a letter.
SPECIFIC_EDIT = 56

_ONE = np.uint32(1)


class CorrectionLayout:
    """The files of n words below `root`, sorted by length, then alphabetically."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.alphabet = root / "alphabet.txt"  # UTF-8; letter i has the code i + 1.
        self.starts = root / "starts.npy"  # uint32 (MAX_LENGTH + 2,): first word of each length
        self.letters = root / "letters.npy"  # uint8: the codes of all words, concatenated
        self.masks = root / "masks.npy"  # uint64 (n,): see `mask_of`
        self.weights = root / "weights.npy"  # uint8 (n,): log frequency; 0 if in no chunk
        self.forms = root / "forms.bin"  # UTF-8: the most frequent spelling of each word
        self.form_offsets = root / "forms.offsets.npy"  # uint64 (n + 1,)
        self.right = root / "right.npy"  # uint32: sorted hashes of stems of correctly spelled words


def hash_word(word: str) -> int:
    """Return the hash of the stem of a correctly spelled word, as stored in `right`."""
    return crc32(word.encode("utf-8", "replace"))


class Nearest(NamedTuple):
    """The nearest word, as the corpus spells it; weight 0 if it is in no chunk."""

    form: str
    edits: int
    weight: int


def mask_of(codes: Sequence[int]) -> int:
    """Return the set of a word's letters as a 64-bit mask."""
    mask = 0
    for code in codes:
        mask |= 1 << code % 64
    return mask


@dataclass(frozen=True, slots=True)
class Words:
    """The words that misspelt words can be corrected to; see `CorrectionLayout`."""

    codes: dict[str, int]
    starts: NDArray[np.uint32]
    blocks: list[NDArray[np.uint8]]  # By length: the letters of words, one word per row
    masks: NDArray[np.uint64]
    weights: NDArray[np.uint8]
    forms: Vocabulary
    right: NDArray[np.uint32]

    @classmethod
    def open(cls, root: Path) -> "Words":
        """Memory-map the files. Raises IndexUnusableError."""
        layout = CorrectionLayout(root)
        try:
            alphabet = layout.alphabet.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            message = f"{layout.alphabet}: unreadable: {error}; spelling correction needs it"
            raise IndexUnusableError(message) from None
        starts = open_array(layout.starts, np.uint32, (MAX_LENGTH + 2,))
        counts = np.diff(starts.astype(np.int64))
        ends = np.cumsum([0, *(counts * np.arange(len(counts)))])
        count, size = int(starts[-1]), int(ends[-1])
        letters = open_array(layout.letters, np.uint8, (size,))
        lengths = range(len(counts))
        return cls(
            {letter: code for code, letter in enumerate(alphabet, start=1)},
            starts,
            [letters[ends[n] : ends[n + 1]].reshape(-1, n) if n else letters[:0] for n in lengths],
            open_array(layout.masks, np.uint64, (count,)),
            open_array(layout.weights, np.uint8, (count,)),
            Vocabulary.open(layout.forms, layout.form_offsets, count),
            open_array(layout.right, np.uint32, (-1,)),
        )

    def is_right(self, stem: str) -> bool:
        """Return whether a stem belongs to a word of the corpus or of the dictionary."""
        value = np.uint32(hash_word(stem))
        place = int(self.right.searchsorted(value))
        is_found = place < len(self.right) and bool(self.right[place] == value)
        return is_found or stem in self

    def nearest(self, word: str) -> Nearest | None:
        """Return the word nearest to a case-folded one.

        Returns None if every word is more edits away than allowed.
        """
        if len(word) > MAX_LENGTH:
            return None
        codes = [self.codes.get(letter, 0) for letter in word]
        most = 2 if len(word) >= MIN_TWO_EDITS else 1
        alike, differing = self._alike(codes, most)
        edits, numbers = self._within_one(codes, alike[differing <= 2])
        if not len(numbers) and most == 2:
            if len(alike) > MAX_COMPARED:
                order = np.argsort(differing, kind="stable")
                alike = np.sort(alike[order[:MAX_COMPARED]])
            edits, numbers = 2, alike[self._count_edits(codes, alike) == 2]
        if not len(numbers):
            return None
        best = int(numbers[np.argmax(self._plausibility(len(word), codes, numbers))])
        return Nearest(self.forms[best].decode(), edits, int(self.weights[best]))

    def _within_one(
        self, codes: Sequence[int], numbers: NDArray[np.intp]
    ) -> tuple[int, NDArray[np.intp]]:
        """Return 0 and the word with these letters, or 1 and the words one edit away.

        Comparing letters from both ends needs no matrix, and suffices for nearly all misspelt
        words.
        """
        wanted = np.array(codes, dtype=np.uint8)
        bounds = np.searchsorted(numbers, self.starts).tolist()
        found = []
        for length in range(max(1, len(codes) - 1), min(MAX_LENGTH, len(codes) + 1) + 1):
            group = numbers[bounds[length] : bounds[length + 1]]
            rows = self.blocks[length][group - int(self.starts[length])]
            shared = min(length, len(codes))
            left = _count_agreeing(rows[:, :shared], wanted[:shared])
            right = _count_agreeing(rows[:, ::-1][:, :shared], wanted[::-1][:shared])
            if length != len(codes):
                found.append(group[left + right >= shared])
                continue
            if (left == length).any():
                return 0, group[left == length]
            is_near = left + right == length - 1
            for place in np.flatnonzero(left + right == length - 2).tolist():
                here = slice(left[place], left[place] + 2)
                is_near[place] = (rows[place, here] == wanted[here][::-1]).all()
            found.append(group[is_near])
        return 1, np.concatenate(found)

    def _alike(
        self, codes: Sequence[int], edits: int
    ) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
        """Return words (c,), ascending, with nearly the length and letters of the given one.

        Other words are more than `edits` edits away. Also returns how many letters differ (c,).
        """
        shortest, longest = max(1, len(codes) - edits), min(MAX_LENGTH, len(codes) + edits)
        first, last = self.starts[[shortest, longest + 1]].tolist()
        differing = np.bitwise_count(self.masks[first:last] ^ np.uint64(mask_of(codes)))
        numbers = np.flatnonzero(differing <= 2 * edits)
        return numbers + first, differing[numbers]

    def _plausibility(
        self, length: int, codes: Sequence[int], numbers: NDArray[np.intp]
    ) -> NDArray[np.int64]:
        """Return the plausibility of each of `numbers` (c,); 0 for words that are in no chunk."""
        weights = self.weights[numbers].astype(np.int64)
        lengths = np.searchsorted(self.starts, numbers, side="right") - 1
        is_swapped = (lengths == length) & (self.masks[numbers] == np.uint64(mask_of(codes)))
        return np.where(weights, weights + SPECIFIC_EDIT * ((lengths > length) | is_swapped), 0)

    def __contains__(self, word: str) -> bool:
        if len(word) > MAX_LENGTH:
            return False
        codes = [self.codes.get(letter, 0) for letter in word]
        first, last = self.starts[len(word) : len(word) + 2].tolist()
        same = np.flatnonzero(self.masks[first:last] == np.uint64(mask_of(codes)))
        return bool((self.blocks[len(word)][same] == codes).all(axis=1).any())

    def _count_edits(self, codes: Sequence[int], numbers: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the number of edits (c,) between a word and each of `numbers` (c,), ascending.

        A column of a distance matrix is stored as bits, the differences between its rows, and all
        words advance by a column at once (Hyyrö 2003, A bit-vector algorithm for computing
        Levenshtein and Damerau edit distances).
        """
        bounds = np.searchsorted(numbers, self.starts).tolist()
        groups = {
            length: slice(first, last)
            for length, (first, last) in enumerate(pairwise(bounds))
            if first < last
        }
        letters = np.zeros((max(groups, default=0), len(numbers)), dtype=np.uint8)
        for length, group in groups.items():
            rows = numbers[group] - int(self.starts[length])
            letters[:length, group] = self.blocks[length][rows].T
        places = np.zeros(256, dtype=np.uint32)
        for place, code in enumerate(codes):
            places[code] |= np.uint32(1 << place)
        places[0] = 0
        columns, more, less = np.zeros((3, len(numbers)), dtype=np.uint32)
        own = np.uint32((1 << len(codes)) - 1)
        up, down = np.full(len(numbers), own), np.zeros(len(numbers), dtype=np.uint32)
        diagonal, before = down, down
        for column, here in enumerate(places[letters], start=1):
            swapped = ((~diagonal & here) << _ONE) & before
            diagonal = (((here & up) + up) ^ up) | here | down | swapped
            right, left = down | ~(diagonal | up), (diagonal & up) << _ONE
            right = (right << _ONE) | _ONE
            up, down, before = left | ~(diagonal | right), right & diagonal, here
            if column in groups:
                done = groups[column]
                columns[done], more[done], less[done] = column, up[done], down[done]
        edits: NDArray[np.int64] = columns.astype(np.int64)
        edits += np.bitwise_count(more & own)
        edits -= np.bitwise_count(less & own)
        return edits


def _count_agreeing(rows: NDArray[np.uint8], wanted: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the length of the common prefix of each row (c, n) with `wanted` (n,)."""
    agreeing = np.logical_and.accumulate(rows == wanted, axis=1)
    counts: NDArray[np.int64] = np.count_nonzero(agreeing, axis=1)
    return counts
