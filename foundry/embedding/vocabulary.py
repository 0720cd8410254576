"""Which pieces the default encoder has: the teacher's own, and whole words that those would split.

A word that is cut into pieces ("iono", "##sphere") is the sum of rows that also serve other words;
most of the words that tell one technical text from another are cut so. Common ones get a row.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from foundry.embedding.training_text import Passage
from foundry.runtime.encoder import CONTINUATION, PieceCutter, split_words

SHORTEST_WORD = 4
LONGEST_WORD = 24
LEAST_SOURCES = 2


def latin_pieces(vocabulary: Iterable[str]) -> list[str]:
    """The teacher's pieces of Latin letters and digits: those that an English text needs."""

    def fits(character: str) -> bool:
        if character.isdecimal():
            return character.isascii()
        return unicodedata.name(character, "").startswith("LATIN")

    return [
        piece
        for piece in vocabulary
        if (bare := piece.removeprefix(CONTINUATION)).isalnum() and all(map(fits, bare))
    ]


def count_words(passages: Mapping[str, Sequence[Passage]]) -> dict[str, Counter[str]]:
    """How many passages of each source have a word in them."""
    counts = {}
    for source, group in passages.items():
        counts[source] = Counter[str]()
        for passage in group:
            counts[source].update(set(split_words(f"{passage.title} {passage.text}")))
    return counts


def choose_pieces(
    pieces: Sequence[str], counts: Mapping[str, Counter[str]], size: int
) -> tuple[list[str], list[str]]:
    """Pieces to keep and words to add, `size` together.

    Words are ranked by the sum over the sources of log(1 + passages), so that a word that one
    source repeats does not outrank one that several know; a word of one source is never added.
    Pieces that no passage needs make room.
    """
    everywhere = Counter[str]()
    rank: dict[str, float] = {}
    sources: Counter[str] = Counter()
    for source in sorted(counts):
        everywhere.update(counts[source])
        for word, count in counts[source].items():
            rank[word] = rank.get(word, 0.0) + math.log1p(count)
            sources[word] += 1
    cutter = PieceCutter(pieces)
    used = Counter[int]()
    candidates = []
    for word, count in everywhere.items():
        rows = cutter.cut_word(word).rows
        for row in rows:
            used[row] += count
        if (
            len(rows) > 1
            and word.isascii()
            and word.isalpha()
            and SHORTEST_WORD <= len(word) <= LONGEST_WORD
            and sources[word] >= LEAST_SOURCES
        ):
            candidates.append(word)
    # Single characters stay, so that every Latin word is covered.
    kept = [
        piece
        for row, piece in enumerate(pieces)
        if used[row] or len(piece.removeprefix(CONTINUATION)) == 1
    ]
    candidates.sort(key=lambda word: (-rank[word], word))
    return kept, candidates[: max(0, size - len(kept))]
