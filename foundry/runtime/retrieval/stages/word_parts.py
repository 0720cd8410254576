"""Parts of words: boosts the best results if they contain parts of the query's words.

In languages that join words (`Wasserleitung`), or inflect them in more ways than stemming handles,
query and text often share only a part of a word. Parts are runs of five characters of the
word with a space on either side. The fewer of the compared results contain a part, the more it
weighs.
"""

import unicodedata
from collections.abc import Sequence

import numpy as np

from ...index.idf import idf
from ...index.patterns import WORD
from ...index.reader import Index
from ...index.records import ChunkRecord
from ...index.tokens import Token
from ..candidates import Candidates
from ..journal import Journal
from ..timing import stage

PART_LETTERS = 5
MIN_LETTERS = 4  # Shorter words are not divided.
LOOKUP_UNITS = 40  # Cost of looking for a part in a text
MAX_PARTS = 128  # Maximum number of parts; others are ignored.


@stage("word_parts")
def boost_word_parts(
    candidates: Candidates,
    index: Index,
    tokens: Sequence[Token],
    journal: Journal,
    *,
    hits: int,
    gain: float,
) -> Candidates:
    """Multiply the scores of the best `hits` by up to 1 + `gain`; `tokens` are the query's.

    Other candidates get factor 1, the smallest, so they cannot pass any of the best `hits`.
    """
    places, parts = candidates.best_places()[:hits], find_parts(tokens)
    texts = [*map(_text_of, index.chunks(candidates.chunks[places].tolist()))]
    evidence = np.zeros(len(texts))
    for part in parts:
        if not journal.spend("word_parts", len(texts) * LOOKUP_UNITS):
            break
        found = [part in text for text in texts]
        evidence += np.array(found) * idf(sum(found), len(texts))
    factors = np.ones(len(candidates.chunks))
    if evidence.any():
        factors[places] += gain * evidence / evidence.max()
    return candidates.boosted("word_parts", factors, 1 + gain)


def find_parts(tokens: Sequence[Token]) -> list[str]:
    """Return the parts of a query's words, each once, skipping identifiers and stop words."""
    words = (token.text.casefold() for token in tokens if token.terms and not token.is_identifier)
    padded = [f" {word} " for word in words if len(word) >= MIN_LETTERS and _is_word(word)]
    parts = (
        word[start : start + PART_LETTERS]
        for word in padded
        for start in range(len(word) - PART_LETTERS + 1)
    )
    return [*dict.fromkeys(parts)][:MAX_PARTS]


def _is_word(text: str) -> bool:
    return WORD.fullmatch(text) is not None and not any(map(str.isdigit, text))


def _text_of(chunk: ChunkRecord) -> str:
    """Return a chunk's headings and text, normalised for matching parts."""
    text = " ".join([*chunk.headings(), chunk.text])
    normal = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return f" {' '.join(normal.casefold().split())} "
