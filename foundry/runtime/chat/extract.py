"""Answers without a language model: the sentences of the passages that say most about a question.

A sentence is worth the share of the question's terms that it holds, weighted by their rarity in the
index, times how well its passage ranked.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..index.reader import Index
from ..retrieval.results import term_weights
from ..retrieval.sentences import find_sentence_ends
from .prompt import NumberedPassage, heading_of, shorten

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


def extract(
    question: str, passages: Sequence[NumberedPassage], index: Index
) -> list[tuple[NumberedPassage, str]]:
    """Return the best sentences that each say something new, in the order of the passages."""

    def terms_of(text: str) -> set[str]:
        return set(index.tokenizer.terms(text))

    weights = term_weights(index, terms_of(question))
    total = sum(weights.values()) or 1.0

    def coverage(terms: set[str]) -> float:
        return sum(weight for term, weight in weights.items() if term in terms) / total

    found: dict[str, tuple[float, NumberedPassage, set[str]]] = {}
    best_score = max((passage.hit.score for passage in passages), default=0.0) or 1.0
    for passage in passages:
        heading = terms_of(heading_of(passage.hit))
        rank = (passage.hit.score / best_score) ** 2
        for position, text in enumerate(sentences(passage.text), start=1):
            terms = terms_of(text)
            own, whole = coverage(terms), coverage(terms | heading)
            worth = own + HEADING_SHARE * (whole - own) + OPENING_WORTH / position
            found.setdefault(text, (rank * worth, passage, terms))
    chosen: list[str] = []
    said: set[str] = set()
    best_first = sorted(found, key=lambda text: found[text][0], reverse=True)
    for text in best_first:
        worth, _, terms = found[text]
        is_worth = worth >= MIN_SHARE_OF_BEST * found[best_first[0]][0]
        if is_worth and len(chosen) < MAX_SENTENCES and not terms <= said:
            chosen.append(text)
            said |= terms
    return [(passage, text) for text, (_, passage, _) in found.items() if text in chosen]
