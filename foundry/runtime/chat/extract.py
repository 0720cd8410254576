"""Answers without a language model: the sentences of the passages that say most about a question.

A sentence is worth the share of the question's terms that it holds, weighted by their rarity in the
index, times how well its passage ranked.
"""

import re
from collections.abc import Iterator, Sequence
from heapq import nlargest
from itertools import pairwise

from ..index.reader import Index
from ..retrieval.match import term_weights
from ..retrieval.sentences import find_sentence_ends
from .events import NumberedPassage, heading_of, shorten

MIN_CHARACTERS = 20
MAX_CHARACTERS = 400
MAX_SENTENCES = 4
MIN_SHARE_OF_BEST = 0.45

# Terms in the headings above a sentence count less; passages mostly say first what they are about.
HEADING_SHARE, OPENING_WORTH = 0.3, 0.1

_CODE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z).*?$", re.MULTILINE | re.DOTALL)
_HEADING_OR_RULE = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t].*|=+|[-*_][-*_ \t]*|(?=.*\|)[ \t|:+-]+)[ \t]*$", re.MULTILINE
)
_BLOCK = re.compile(
    r"\n[ \t]*(?=\n)|^[ \t]*(?:(?:[-*+]|[0-9]{1,3}[.)])[ \t]+|>[ \t]?|(?=\|))|\|[ \t]*$",
    re.MULTILINE,
)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
# Bounded, or many marks that are never closed would take quadratic time.
_EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.{1,200}?)(?<=\S)\1")
_NUMBER = re.compile(r"\[([0-9 ,;\u2013-]+)\]")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences, list items and table rows of Markdown, as plain text of bounded length.

    Headings and code blocks are left out. A number in square brackets gets round ones, so that
    nothing looks like a citation.
    """
    for block in _BLOCK.split(_HEADING_OR_RULE.sub("\n", _CODE.sub("\n", text))):
        if block.lstrip().startswith("|"):
            block = ", ".join(cell.strip() for cell in block.split("|") if cell.strip())
        plain = _LINK.sub(r"\1", _WIKILINK.sub(r"\1", " ".join(block.split())))
        plain = _EMPHASIS.sub(r"\2", plain)
        plain = _NUMBER.sub(r"(\1)", plain)
        for start, end in pairwise([0, *find_sentence_ends(plain, 0, len(plain)), len(plain)]):
            sentence = shorten(plain[start:end].strip(), MAX_CHARACTERS)
            if len(sentence) >= MIN_CHARACTERS:
                yield sentence


class _Question:
    """The terms of a question, weighted by their rarity."""

    def __init__(self, text: str, index: Index) -> None:
        self._index = index
        self._weights = term_weights(index, self.terms(text))

    def terms(self, text: str) -> set[str]:
        return set(self._index.tokenizer.terms(text))

    def coverage(self, terms: set[str]) -> float:
        """Return the share of the question's weight that the terms hold, from 0 to 1."""
        total = sum(self._weights.values())
        held = sum(weight for term, weight in self._weights.items() if term in terms)
        return held / total if total else 0.0


def extract(
    question: str, passages: Sequence[NumberedPassage], index: Index
) -> list[tuple[NumberedPassage, str]]:
    """Return the best sentences, in the order of the passages."""
    asked = _Question(question, index)
    worths: dict[str, tuple[float, NumberedPassage]] = {}
    best_score = max((passage.hit.score for passage in passages), default=0.0) or 1.0
    for passage in passages:
        heading = asked.terms(heading_of(passage.hit))
        rank = (passage.hit.score / best_score) ** 2
        for position, text in enumerate(sentences(passage.text), start=1):
            terms = asked.terms(text)
            own, whole = asked.coverage(terms), asked.coverage(terms | heading)
            worth = own + HEADING_SHARE * (whole - own) + OPENING_WORTH / position
            worths.setdefault(text, (rank * worth, passage))
    chosen = nlargest(MAX_SENTENCES, worths, key=lambda text: worths[text][0])
    least = MIN_SHARE_OF_BEST * max((worth for worth, _ in worths.values()), default=0.0)
    return [
        (passage, text)
        for text, (worth, passage) in worths.items()
        if text in chosen and worth >= least
    ]
