"""The word pieces of a corpus's query encoder: a general vocabulary and pieces of the corpus.

A word that is not a piece is split into pieces, whose rows it shares with other words; so frequent
words of the corpus become pieces. The general vocabulary is English. For other scripts, characters,
pairs of characters and frequent words are added, and for scripts without spaces, runs of up to four
characters. Pieces that may continue a word are marked, as in the general vocabulary. So any text in
the corpus's language is covered.
"""

import heapq
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from foundry.embedding.distil.corpus_texts import SPACELESS, chunk_text
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.index.spelling import american
from foundry.runtime.retrieval.encoder import CONTINUATION, PieceCutter, split_words

MAX_OWN_PIECES = 12_000
MIN_COUNT = 3
COMMON_WORDS = 80
COMMON_WORD_LENGTH = 4
LONGEST_WORD = 40
LONGEST_RUN = 4
"""Maximum length of a piece in scripts without spaces."""

COUNTED_WORDS = 1_000_000
"""Maximum number of distinct words counted; above it, the rarest are dropped."""

_SPACELESS_RUN = re.compile(f"[{SPACELESS}]+")


class WordCounts:
    """Counts the case-folded words of a corpus in bounded memory.

    If there are too many, the rarer half is dropped (similar to lossy counting: Manku and Motwani
    2002), so counts may be too low, though rarely for frequent words.
    """

    def __init__(self, chunks: Iterable[ChunkRecord]) -> None:
        self._counts: Counter[str] = Counter()
        for chunk in chunks:
            self._counts.update(split_words(chunk_text(chunk)))
            if len(self._counts) > COUNTED_WORDS:
                self._counts = Counter(dict(self.most_common(COUNTED_WORDS // 2)))

    def most_common(self, count: int) -> list[tuple[str, int]]:
        """Return the `count` most frequent words, ties in alphabetical order."""
        return heapq.nsmallest(count, self._counts.items(), key=lambda entry: (-entry[1], entry[0]))

    def common_words(self) -> frozenset[str]:
        """Return frequent short words, which are not part of key phrases in most languages."""
        frequent = self.most_common(COMMON_WORDS)
        return frozenset(word for word, _ in frequent if len(word) <= COMMON_WORD_LENGTH)

    def items(self) -> Iterable[tuple[str, int]]:
        """Return all counted words with their counts."""
        return self._counts.items()


def own_pieces(
    general: Sequence[str],
    words: WordCounts,
    most: int = MAX_OWN_PIECES,
    language: str = "none",
) -> list[str]:
    """Return the pieces to add to `general` for a corpus, at most `most`, by frequency.

    Characters come first, since they cover what no other piece does.
    """
    cutter = PieceCutter(general)
    characters: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for word, count in words.items():
        if language == "english":
            word = american(word)
        if len(word) > LONGEST_WORD and not _SPACELESS_RUN.search(word):
            continue
        cut = cutter.cut_word(word)
        covered = cut.covered_letters + cut.covered_digits == len(word)
        if covered and len(cut.rows) == 1:
            continue
        if not covered:
            for place, character in enumerate(word):
                characters[character if place == 0 else CONTINUATION + character] += count
        runs = _SPACELESS_RUN.findall(word)
        if runs:
            for run in runs:
                _count_runs(run, count, others)
        else:
            others[word] += count
            if not covered:
                _count_pairs(word, count, others)
    known = set(general)
    found: dict[str, None] = {}
    for group, least in ((characters, 2), (others, MIN_COUNT)):
        ranked = sorted(
            (
                (-count, piece)
                for piece, count in group.items()
                if count >= least and piece not in known
            )
        )
        found.update(dict.fromkeys(piece for _, piece in ranked[:most]))
    return list(found)[:most]


def _count_runs(run: str, count: int, counts: Counter[str]) -> None:
    for size in range(2, LONGEST_RUN + 1):
        for start in range(len(run) - size + 1):
            piece = run[start : start + size]
            counts[piece] += count
            counts[CONTINUATION + piece] += count


def _count_pairs(word: str, count: int, counts: Counter[str]) -> None:
    for start in range(len(word) - 1):
        piece = word[start : start + 2]
        counts[piece if start == 0 else CONTINUATION + piece] += count
