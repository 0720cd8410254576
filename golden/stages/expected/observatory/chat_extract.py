"""Answers without a language model: the sentences of the passages that say most about a question.

A sentence is worth the share of the question's terms that it holds, each weighted by how rare it
is in the index, times how well its passage ranked. Sentences are taken best first, less what they
share with those taken before (maximal marginal relevance: Carbonell and Goldstein 1998).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .chat_passages import NumberedPassage
from .chat_sentences import sentences
from .index import Index

MAX_SENTENCES = 4
MIN_SHARE = 0.45
"""Of the best sentence's worth, that each further one must have."""

HEADING_SHARE = 0.3
"""Of a sentence's worth, that terms count which stand in its headings alone."""

NOVELTY = 0.6
"""How much of a sentence's worth is lost if all its terms were said before."""

MIN_EVIDENCE = 0.75
"""Of coverage and cosine together. With the built-in encoder, 59 of the 60 questions of an example
corpus reach it, and 4 of 22 questions about something else."""

MIN_COVERAGE = 0.3
"""Of the coverage alone, where there is no cosine."""


@dataclass(frozen=True, slots=True)
class Extract:
    """A sentence of a passage."""

    passage: NumberedPassage
    text: str


def extract(question: str, passages: Sequence[NumberedPassage], index: Index) -> list[Extract]:
    """The best sentences, four at most, in the order of the passages; none if nothing is found."""
    weights = _term_weights(question, index)
    if not is_found(weights, passages, index):
        return []
    candidates = _candidates(weights, passages, index)
    chosen: list[tuple[int, _Candidate]] = []
    said: set[str] = set()
    best = 0.0
    while candidates and len(chosen) < MAX_SENTENCES:
        place, candidate = max(
            candidates.items(), key=lambda entry: (entry[1].gain(said), -entry[0])
        )
        gain = candidate.gain(said)
        best = best or gain
        if gain < MIN_SHARE * best:
            break
        del candidates[place]
        chosen.append((place, candidate))
        said |= candidate.terms
    return [candidate.extract for _, candidate in sorted(chosen, key=lambda entry: entry[0])]


def is_found(weights: dict[str, float], passages: Sequence[NumberedPassage], index: Index) -> bool:
    """Whether some passage is about the question at all: a search by meaning always has results.

    The evidence is the largest share of the question that a passage holds, by weight of terms, and
    the best cosine.
    """
    coverage = max(
        (
            _coverage(weights, _terms(f"{passage.heading}\n{passage.text}", index))
            for passage in passages
        ),
        default=0.0,
    )
    cosines = [hit.semantic for passage in passages if (hit := passage.hit).semantic is not None]
    if not cosines:
        return coverage >= MIN_COVERAGE
    return coverage + max(cosines) >= MIN_EVIDENCE


@dataclass(frozen=True, slots=True)
class _Candidate:
    extract: Extract
    terms: frozenset[str]
    worth: float

    def gain(self, said: set[str]) -> float:
        """What the sentence adds to what has been said."""
        repeated = len(self.terms & said) / len(self.terms)
        return self.worth * (1 - NOVELTY * repeated)


def _candidates(
    weights: dict[str, float], passages: Sequence[NumberedPassage], index: Index
) -> dict[int, _Candidate]:
    found: dict[int, _Candidate] = {}
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
            with_heading = _coverage(weights, terms | heading)
            # The first sentence of a passage mostly says what it is about.
            opening = 0.1 / (1 + position)
            worth = rank * (own + HEADING_SHARE * (with_heading - own) + opening)
            found[len(found)] = _Candidate(Extract(passage, text), frozenset(terms), worth)
    return found


def _terms(text: str, index: Index) -> set[str]:
    return set(index.tokenizer.terms(text))


def _term_weights(question: str, index: Index) -> dict[str, float]:
    """The question's terms with their inverse document frequencies, as in the keyword lane."""
    chunks = index.chunk_count
    return {
        term: math.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))
        for term in sorted(_terms(question, index))
        for frequency in [index.keyword_lane.frequency(term)]
    }


def _coverage(weights: dict[str, float], terms: set[str]) -> float:
    """The share of the question's weight that the terms hold, from 0 to 1."""
    total = sum(weights.values())
    return sum(weights[term] for term in weights if term in terms) / total if total else 0.0
