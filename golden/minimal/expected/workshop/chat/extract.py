"""Answers without a language model: the sentences of the passages that say most about a question.

A sentence is worth the share of the question's terms that it holds, each weighted by how rare it
is in the index, times how well its passage ranked. Sentences are taken best first, less what they
share with those taken before (maximal marginal relevance: Carbonell and Goldstein 1998).
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..index.reader import Index
from ..retrieval.sentences import find_sentence_ends
from .events import NumberedPassage

MIN_CHARACTERS = 20
MAX_CHARACTERS = 400
"""Of a sentence in an answer."""

MAX_SENTENCES = 4
MIN_SHARE = 0.45
"""Of the best sentence's worth, that each further one must have."""

HEADING_SHARE = 0.3
"""Of a sentence's worth, that terms count which stand in its headings alone."""

OPENING_WORTH = 0.1
"""Of the first sentence of a passage, which mostly says what it is about; then ever less."""

NOVELTY = 0.6
"""How much of a sentence's worth is lost if all its terms were said before."""

MIN_EVIDENCE = 0.75
"""Of coverage and cosine together. With the built-in encoder, 59 of the 60 questions of an example
corpus reach it, and 4 of 22 questions about something else."""

MIN_COVERAGE = 0.3
"""Of the coverage alone, where there is no cosine."""

_FENCE = re.compile(r"\s*(?:```|~~~)")
_BETWEEN = re.compile(
    r"\s*"  # an empty line
    r"|\s{0,3}#{1,6}\s.*"  # a heading
    r"|\s{0,3}(?:=+|-+|\*(?:\s*\*)+|_(?:\s*_)+)\s*"  # a rule, or the line below a heading
    r"|(?=.*\|)[\s|:+-]+"  # a rule in a table
)
_ITEM = re.compile(r"\s*(?:[-*+]|[0-9]{1,3}[.)])\s+|\s*>\s?")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_NUMBER = re.compile(r"\[([0-9 ,;\u2013-]+)\]")
# Bounded, or a text of many marks that are never closed would take quadratic time.
_EMPHASIS = re.compile(
    r"(\*\*|__)(?=\S)(.{1,200}?)(?<=\S)\1|(?<![*\w])\*(?=\S)([^*]{1,200}?)(?<=\S)\*(?![*\w])"
)


def sentences(text: str) -> Iterator[str]:
    """Yield sentences and list items of Markdown in order, of 20 to 400 characters.

    Longer ones are cut. Headings, code blocks and rules are left out; a row of a table is one
    sentence. Links stand as their text, and a number in square brackets in round ones: nothing
    looks like a citation.
    """
    for block in _blocks(text):
        plain = _LINK.sub(r"\1", _WIKILINK.sub(r"\1", " ".join(block.split())))
        plain = _EMPHASIS.sub(lambda match: match[2] or match[3], plain)
        plain = _NUMBER.sub(r"(\1)", plain)
        cuts = [0, *find_sentence_ends(plain, 0, len(plain)), len(plain)]
        for start, end in pairwise(cuts):
            sentence = plain[start:end].strip()
            if len(sentence) > MAX_CHARACTERS:
                last_space = sentence.rfind(" ", 0, MAX_CHARACTERS - 3)
                sentence = sentence[:last_space].rstrip() + " ..."
            if len(sentence) >= MIN_CHARACTERS:
                yield sentence


def _blocks(text: str) -> Iterator[str]:
    """Yield paragraphs, items and rows of tables, without what marks them as such."""
    block: list[str] = []
    is_code = False
    for line in (*text.splitlines(), ""):
        is_fence = _FENCE.match(line) is not None
        item = _ITEM.match(line)
        is_row = line.lstrip().startswith("|")
        if is_fence or item or is_row or _BETWEEN.fullmatch(line):
            yield " ".join(block)
            block = []
        if is_fence:
            is_code = not is_code
        elif is_code or _BETWEEN.fullmatch(line):
            continue
        elif is_row:
            yield ", ".join(cell.strip() for cell in line.split("|") if cell.strip())
        else:
            block.append(line[item.end() :] if item else line)


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
    """Return the best sentences, four at most, in the order of the passages.

    None where no passage is about the question: a search by meaning always has results.
    """
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
        least = least or MIN_SHARE * best.gain(said)
        chosen.append(best)
        said |= best.terms
    return [(sentence.passage, sentence.text) for sentence in found if sentence in chosen]


def _is_found(
    weights: Mapping[str, float], passages: Sequence[NumberedPassage], index: Index
) -> bool:
    texts = [f"{passage.heading}\n{passage.text}" for passage in passages]
    coverage = max((_coverage(weights, _terms(text, index)) for text in texts), default=0.0)
    cosines = [score for one in passages if (score := one.hit.scores.semantic) is not None]
    if not cosines:
        return coverage >= MIN_COVERAGE
    return coverage + max(cosines) >= MIN_EVIDENCE


def _weighed_sentences(
    weights: Mapping[str, float], passages: Sequence[NumberedPassage], index: Index
) -> Iterator[_Sentence]:
    seen: set[str] = set()
    best_score = max((passage.hit.score for passage in passages), default=0.0) or 1.0
    for passage in passages:
        heading = _terms(passage.heading, index)
        rank = (passage.hit.score / best_score) ** 2
        for position, text in enumerate(sentences(passage.text)):
            terms = _terms(text, index)
            if not terms or text in seen:
                continue
            seen.add(text)
            own = _coverage(weights, terms)
            of_heading = HEADING_SHARE * (_coverage(weights, terms | heading) - own)
            worth = rank * (own + of_heading + OPENING_WORTH / (1 + position))
            yield _Sentence(passage, text, terms, worth)


def _terms(text: str, index: Index) -> set[str]:
    return set(index.tokenizer.terms(text))


def _term_weights(question: str, index: Index) -> dict[str, float]:
    """Return the question's terms with their inverse document frequencies, as BM25 has them."""
    frequencies = {term: index.keyword_lane.frequency(term) for term in _terms(question, index)}
    return {
        term: math.log(1 + (index.chunk_count - frequency + 0.5) / (frequency + 0.5))
        for term, frequency in sorted(frequencies.items())
    }


def _coverage(weights: Mapping[str, float], terms: set[str]) -> float:
    """Return the share of the question's weight that the terms hold, from 0 to 1."""
    total = sum(weights.values())
    return sum(weights[term] for term in weights if term in terms) / total if total else 0.0
