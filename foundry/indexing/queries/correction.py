"""Writes the words for correcting queries: words of the corpus and of its language."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from foundry.indexing.files import write_array, write_stretches
from foundry.indexing.queries.forms import count_forms
from foundry.indexing.queries.words import CorpusWords
from foundry.runtime.retrieval.stages.nearest_words import MAX_LENGTH, CorrectionLayout

MAX_LETTERS = 255
WEIGHT_UNIT = 12
"""Added to a weight for each doubling of the frequency."""

_CODE_POINTS = 0x110000
_MASK_BITS = 64


def write_correction(
    root: Path, words: CorpusWords, most_words: int, known: Iterable[str] = ()
) -> None:
    """Write the files of the correction stage.

    They contain the `most_words` most frequent words of a corpus, the words of its language, and
    the words of the texts `known`, which are correct even if no chunk contains them.
    """
    frequencies = {word: words.frequencies[word] for word in words.most_frequent(most_words)}
    # Words of the language that no chunk contains protect correct queries from being changed.
    others = filter(words.is_word, map(str.casefold, count_forms(known)))
    frequencies |= {word: 0 for word in (*others, *words.of_language) if word not in frequencies}
    spelt = sorted(sorted(frequencies), key=len)
    counts = np.array([frequencies[word] for word in spelt], dtype=np.int64)
    # Code points by word and letter (n, MAX_LENGTH), 0 after the end.
    points = np.array(spelt, dtype=f"U{MAX_LENGTH}").view(np.uint32).reshape(-1, MAX_LENGTH)
    alphabet = _choose_letters(points, counts)
    codes = np.zeros(_CODE_POINTS, dtype=np.uint8)
    codes[alphabet] = np.arange(1, len(alphabet) + 1)
    rows = codes[points]
    is_spelt = np.count_nonzero(rows, axis=1) == np.count_nonzero(points, axis=1)
    kept = [spelt[place] for place in np.flatnonzero(is_spelt).tolist()]
    forms = [words.best.get(word, word).encode() for word in kept]
    root.mkdir()
    write_array(CorrectionLayout(root).right, words.right)
    _write(CorrectionLayout(root), alphabet, rows[is_spelt], weights_of(counts[is_spelt]), forms)


def weights_of(frequencies: Sequence[int] | NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the logarithms of frequencies (n,) as bytes (n,); 0 stays 0."""
    different, places = np.unique(np.asarray(frequencies, dtype=np.int64), return_inverse=True)
    weights = [min(255, round(WEIGHT_UNIT * math.log2(1 + each))) for each in different.tolist()]
    return np.array(weights, dtype=np.uint8)[places]


def _choose_letters(points: NDArray[np.uint32], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the code points of the most frequent letters, at most MAX_LETTERS.

    A letter counts once for each occurrence of a word that contains it.
    """
    ordered = np.sort(points, axis=1)
    is_counted = (ordered > 0) & (np.diff(ordered, axis=1, prepend=0) > 0)
    # The sums are whole numbers, small enough that a float represents them exactly.
    times = np.repeat(counts + 1, np.count_nonzero(is_counted, axis=1))
    totals = np.bincount(ordered[is_counted], times)
    letters = np.flatnonzero(totals)
    return letters[np.argsort(-totals[letters], kind="stable")][:MAX_LETTERS]


def _write(
    layout: CorrectionLayout,
    alphabet: NDArray[np.int64],
    rows: NDArray[np.uint8],
    weights: NDArray[np.uint8],
    forms: Sequence[bytes],
) -> None:
    """Write words as letter codes (n, MAX_LENGTH), 0 after the end; shorter words come first."""
    is_letter = rows > 0
    lengths = np.count_nonzero(is_letter, axis=1)
    starts = np.searchsorted(lengths, np.arange(MAX_LENGTH + 2)).astype(np.uint32)
    bits = np.where(is_letter, np.uint64(1) << (rows % _MASK_BITS).astype(np.uint64), np.uint64(0))
    layout.alphabet.write_bytes("".join(map(chr, alphabet.tolist())).encode())
    write_array(layout.starts, starts)
    write_array(layout.letters, rows[is_letter])
    write_array(layout.masks, np.bitwise_or.reduce(bits, axis=1))
    write_array(layout.weights, weights)
    write_stretches(layout.forms, layout.form_offsets, forms)
