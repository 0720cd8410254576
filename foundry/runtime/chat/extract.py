"""Answers without a language model: the sentences of the passages that say most about a question.

A sentence is worth the share of the question's terms that it holds, each weighted by how rare it
is in the index, times how well its passage ranked. Sentences are taken best first, less what they
share with those taken before (maximal marginal relevance: Carbonell and Goldstein 1998).
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..index.reader import Index
from .passages import NumberedPassage

_CLOSING = "\"')\\]\u00bb\u2019\u201d\u300b\u300d\u300f\u3011\uff09"
_END = re.compile(
    rf"(?P<stop>(?<=[.!?\u2026\u061f\u0964\u0965\u06d4\u1362])[{_CLOSING}]*\s+)"
    rf"|(?<=[\u3002\uff01\uff1f\uff61])[{_CLOSING}]*\s*"
    r"|[ \t]*\n(?:[ \t]*\n)+"
    r"|[ \t]*\n(?=[ \t]*(?:[-*+\u2022]|[0-9]{1,3}[.)])[ \t])"
)
"""After a stop and a space, after a stop of Chinese or Japanese, after a paragraph or an item."""

_NO_END = re.compile(
    r"(?:^|[\s(\[])(?:[A-Za-z]|e\.g|i\.e|a\.m|p\.m|cf|ca|etc|vs|no|nos|fig|figs|eq|sec|art|approx|dr"
    r"|mr|mrs|ms|prof|st|p|pp|vol|ch|ed|eds|inc|ltd|co|al|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct"
    r"|nov|dec)\.$|(?:^|\n)[ \t>]*[0-9]{1,3}\.$",
    re.IGNORECASE,
)
_LONGEST_ABBREVIATION = 8
_CODE = re.compile(r"`[^`\n]{1,300}`")


def find_sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Offsets at which a new sentence begins within `text[start:end]`, in order.

    Not after an abbreviation, an initial or an item's number, not before a word in lower case, and
    not within a span of code.
    """
    spans = _CODE.finditer(text, start, end)
    code = next(spans, None)
    for match in _END.finditer(text, start, end):
        while code is not None and code.end() <= match.start():
            code = next(spans, None)
        is_within_code = code is not None and code.start() < match.start()
        if start < match.end() < end and not is_within_code and not _goes_on(text, start, match):
            yield match.end()


def _goes_on(text: str, start: int, match: re.Match[str]) -> bool:
    if match["stop"] is None or match[0].count("\n") > 1:
        return False
    before = max(start, match.start() - _LONGEST_ABBREVIATION)
    is_abbreviation = _NO_END.search(text, before, match.start()) is not None
    return is_abbreviation or text[match.end() : match.end() + 1].islower()


MIN_CHARACTERS = 20
MAX_CHARACTERS = 400

_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-+|\*(?:\s*\*)+|_(?:\s*_)+)\s*")
_TABLE_RULE = re.compile(r"[\s|:+-]*\|[\s|:+-]*")
_ITEM = re.compile(r"\s*(?:[-*+]|[0-9]{1,3}[.)])\s+|\s*>\s?")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_NUMBER = re.compile(r"\[([0-9 ,;\u2013-]+)\]")
# Bounded, or a text of many marks that are never closed would take quadratic time.
_EMPHASIS = re.compile(
    r"(\*\*|__)(?=\S)(.{1,200}?)(?<=\S)\1|(?<![*\w])\*(?=\S)([^*]{1,200}?)(?<=\S)\*(?![*\w])"
)


def sentences(text: str) -> list[str]:
    """Sentences and list items in order, of 20 to 400 characters; longer ones are cut.

    Headings, code blocks and rules are left out; a row of a table is one sentence. Links stand as
    their text, and a number in square brackets in round ones: nothing looks like a citation.
    """
    return [
        sentence
        for block in _blocks(text)
        for sentence in _split(_plain(block))
        if len(sentence) >= MIN_CHARACTERS
    ]


def _blocks(text: str) -> list[str]:
    blocks: list[list[str]] = [[]]
    in_code = False
    for line in text.splitlines():
        if _FENCE.match(line):
            in_code = not in_code
            blocks.append([])
        elif in_code:
            continue
        elif not line.strip() or _HEADING.match(line) or _is_rule(line):
            blocks.append([])
        elif line.lstrip().startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            blocks.append([", ".join(cell for cell in cells if cell)])
        elif item := _ITEM.match(line):
            blocks.append([line[item.end() :]])
        else:
            blocks[-1].append(line)
    return [" ".join(" ".join(block).split()) for block in blocks if block]


def _is_rule(line: str) -> bool:
    return bool(_UNDERLINE.fullmatch(line) or _TABLE_RULE.fullmatch(line))


def _plain(block: str) -> str:
    block = _LINK.sub(r"\1", _WIKILINK.sub(r"\1", block))
    block = _EMPHASIS.sub(lambda match: match[2] or match[3], block)
    return _NUMBER.sub(r"(\1)", block)


def _split(block: str) -> list[str]:
    cuts = [0, *find_sentence_ends(block, 0, len(block)), len(block)]
    return [_cut(block[start:end].strip()) for start, end in pairwise(cuts)]


def _cut(sentence: str) -> str:
    if len(sentence) <= MAX_CHARACTERS:
        return sentence
    return sentence[: sentence.rfind(" ", 0, MAX_CHARACTERS - 3)].rstrip() + " ..."


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
