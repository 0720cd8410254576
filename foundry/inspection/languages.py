"""Recognises the language of a text by the share of each language's most frequent words."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

WORDS_LOOKED_AT = 2_000
FEWEST_WORDS = 20
"""Shorter texts are not classified."""

MANY_TEXTS = 4
"""If only one of more texts than this seems to be in a language, that is probably a mistake."""

LEAST_SHARE = 0.05
"""Minimum share of a language's common words in a text; prose has two to eight times as many."""

_WORD = re.compile(r"[^\s\d!-/:-@\[-`{-~«»„“”‘’…–—।]+")  # noqa: RUF001

COMMON_WORDS = {
    language: frozenset(words.split())
    for language, words in json.loads(
        Path(__file__).with_name("languages.json").read_bytes()
    ).items()
}
"""The most frequent words of each language with a stemmer."""


def find_language(text: str) -> str | None:
    """Return the language whose common words are most frequent in a text.

    Returns None if the text is short, or has few of them.
    """
    words = [match[0].lower() for match in _WORD.finditer(text[: WORDS_LOOKED_AT * 10])]
    words = words[:WORDS_LOOKED_AT]
    if len(words) < FEWEST_WORDS:
        return None
    counts = {
        language: sum(word in common for word in words) for language, common in COMMON_WORDS.items()
    }
    best = max(counts, key=lambda language: (counts[language], language))
    return best if counts[best] >= LEAST_SHARE * len(words) else None


def vote(texts: Iterable[str]) -> tuple[str | None, int]:
    """Return the most frequent language and its number of texts; None if there is none."""
    found = [find_language(text) for text in texts]
    votes = Counter(filter(None, found)).most_common(1)
    if not votes or (votes[0][1] == 1 and len(found) > MANY_TEXTS):
        return None, 0
    return votes[0]
