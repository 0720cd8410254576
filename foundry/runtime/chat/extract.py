"""Answers without a language model: the sentences of the passages that say most about a question.

A sentence is worth the share of the question's terms that it holds, weighted by their rarity in the
index, times how well its passage ranked. The best are taken first, less what they share with those
taken before (maximal marginal relevance: Carbonell and Goldstein 1998).
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..index.reader import Index
from ..retrieval.sentences import find_sentence_ends
from .events import NumberedPassage, heading_of, shorten

MIN_CHARACTERS = 20
MAX_CHARACTERS = 400
MAX_SENTENCES = 4
MIN_SHARE_OF_BEST = 0.45
HEADING_SHARE = 0.3
"""What a term counts that only the headings above the sentence hold."""

OPENING_WORTH = 0.1
"""Of the first sentence of a passage, which mostly says what it is about; then ever less."""

NOVELTY = 0.6
"""How much of its worth a sentence loses if all its terms were said before."""

MIN_EVIDENCE = 0.75
"""Of coverage and cosine together. With the built-in encoder, 59 of the 60 questions of an example
corpus reach it, and 4 of 22 questions about something else."""

MIN_COVERAGE = 0.3
"""Of the coverage alone, where there is no cosine."""

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
_NUMBER = re.compile(r"\[([0-9 ,;\u2013-]+)\]")
# Bounded, or a text of many marks that are never closed would take quadratic time.
_EMPHASIS = re.compile(
    r"(\*\*|__)(?=\S)(.{1,200}?)(?<=\S)\1|(?<![*\w])\*(?=\S)([^*]{1,200}?)(?<=\S)\*(?![*\w])"
)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences, list items and table rows of Markdown, as plain text of bounded length.

    Headings and code blocks are left out. A number in square brackets gets round ones, so that
    nothing looks like a citation.
    """
    for block in _BLOCK.split(_HEADING_OR_RULE.sub("\n", _CODE.sub("\n", text))):
        if block.lstrip().startswith("|"):
            block = ", ".join(cell.strip() for cell in block.split("|") if cell.strip())
        plain = _LINK.sub(r"\1", _WIKILINK.sub(r"\1", " ".join(block.split())))
        plain = _EMPHASIS.sub(lambda match: match[2] or match[3], plain)
        plain = _NUMBER.sub(r"(\1)", plain)
        for start, end in pairwise([0, *find_sentence_ends(plain, 0, len(plain)), len(plain)]):
            sentence = shorten(plain[start:end].strip(), MAX_CHARACTERS)
            if len(sentence) >= MIN_CHARACTERS:
                yield sentence


class _Sentence(NamedTuple):
    passage: NumberedPassage
    text: str
    terms: set[str]
    worth: float

    def gain(self, said: set[str]) -> float:
        """Return what the sentence adds to what has been said."""
        return self.worth * (1 - NOVELTY * len(self.terms & said) / len(self.terms))


def extract(
    question: str, passages: Sequence[NumberedPassage], index: Index
) -> list[tuple[NumberedPassage, str]]:
    """Return the best sentences, in the order of the passages; none if no passage is relevant."""
    weights = _term_weights(question, index)
    if not _is_found(weights, passages, index):
        return []
    found = list(_weighed_sentences(weights, passages, index))
    chosen: list[_Sentence] = []
    said: set[str] = set()
    least = 0.0
    while len(chosen) < min(MAX_SENTENCES, len(found)):
        left = [sentence for sentence in found if sentence not in chosen]
        best = max(left, key=lambda sentence: sentence.gain(said))
        if best.gain(said) < least:
            break
        least = least or MIN_SHARE_OF_BEST * best.worth
        chosen.append(best)
        said |= best.terms
    return [(sentence.passage, sentence.text) for sentence in found if sentence in chosen]


def _is_found(
    weights: Mapping[str, float], passages: Sequence[NumberedPassage], index: Index
) -> bool:
    """Tell whether any passage is about the question: a search by meaning always has results."""
    texts = (f"{heading_of(passage.hit)}\n{passage.text}" for passage in passages)
    coverage = max((_coverage(weights, _terms(text, index)) for text in texts), default=0.0)
    cosines = [score for one in passages if (score := one.hit.scores.semantic) is not None]
    return coverage + max(cosines) >= MIN_EVIDENCE if cosines else coverage >= MIN_COVERAGE


def _weighed_sentences(
    weights: Mapping[str, float], passages: Sequence[NumberedPassage], index: Index
) -> Iterator[_Sentence]:
    seen: set[str] = set()
    best_score = max(passage.hit.score for passage in passages) or 1.0
    for passage in passages:
        heading = _terms(heading_of(passage.hit), index)
        rank = (passage.hit.score / best_score) ** 2
        for position, text in enumerate(sentences(passage.text), start=1):
            terms = _terms(text, index)
            if not terms or text in seen:
                continue
            seen.add(text)
            own = _coverage(weights, terms)
            of_heading = HEADING_SHARE * (_coverage(weights, terms | heading) - own)
            worth = rank * (own + of_heading + OPENING_WORTH / position)
            yield _Sentence(passage, text, terms, worth)


def _terms(text: str, index: Index) -> set[str]:
    return set(index.tokenizer.terms(text))


def _term_weights(question: str, index: Index) -> dict[str, float]:
    """Return the inverse document frequency of the question's terms, as BM25 has it."""
    frequencies = {term: index.keyword_lane.frequency(term) for term in _terms(question, index)}
    return {
        term: math.log(1 + (index.chunk_count - frequency + 0.5) / (frequency + 0.5))
        for term, frequency in sorted(frequencies.items())
    }


def _coverage(weights: Mapping[str, float], terms: set[str]) -> float:
    """Return the share of the question's weight that the terms hold, from 0 to 1."""
    total = sum(weights.values())
    return sum(weights[term] for term in weights if term in terms) / total if total else 0.0
