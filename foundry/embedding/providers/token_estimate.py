"""Estimates the tokens of a text for a model whose tokenizer is not available.

Models split text into word pieces, byte pairs or SentencePiece tokens. Their counts differ, but are
close to those of a word-piece vocabulary for English words, and at most the number of bytes for
anything else. So words in Latin letters are split with the built-in vocabulary, plus a margin, and
other characters count at the rate of the less favourable tokenizers.
"""

import math
import re
from functools import cache, lru_cache

from foundry.files import english_pieces
from foundry.runtime.retrieval.encoder import PieceCutter

MARGIN = 1.3
"""Factor by which counts for words in Latin letters are raised, since vocabularies differ."""

FRAME_TOKENS = 4
"""Tokens that a model adds to a text."""

_RUN = re.compile(r"[A-Za-z]+|[0-9]+| {2,}|\n+|[^A-Za-z0-9 \n]")
_ALPHABET = re.compile("[\u00c0-\u052f\u05d0-\u06ff]")
"""Latin with accents, Greek, Cyrillic, Hebrew, Arabic: at worst one token per letter.

A byte-pair tokenizer may need one token per byte for rarer scripts.
"""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text, too many rather than too few."""
    pieces, others = 0, FRAME_TOKENS
    for run in _RUN.findall(text):
        first = run[0]
        if not first.isascii():
            others += 1 if _ALPHABET.match(first) else len(first.encode(errors="replace"))
        elif first.isalpha():
            pieces += _count_pieces(run)
        elif first == " ":
            # Only indentation counts: a single space belongs to the next word.
            others += len(run) // 2
        else:
            others += len(run)
    return math.ceil(MARGIN * pieces) + others


@cache
def _cutter() -> PieceCutter:
    return PieceCutter(english_pieces())


@lru_cache(maxsize=100_000)
def _count_pieces(word: str) -> int:
    # A word that is too long for the tokenizer has no pieces, and counts by letters.
    least = sum(
        max(len(cut.rows), cut.letters - cut.covered_letters) for cut in _cutter().cut(word)
    )
    if word.islower() or word.istitle():
        return least
    # Case-sensitive vocabularies have few pieces for capitals inside a word.
    return max(least, math.ceil(len(word) / 2))
