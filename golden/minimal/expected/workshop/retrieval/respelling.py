"""Matches a query's compounds to the index: `back-up`, `back up` and `backup`, `230V` and `230 V`.

A closed form that is in no text is searched for as its parts, if they occur side by side. An open
or hyphenated form is also searched for in closed form, but only if enough texts have the closed
form without the parts. Otherwise that extra term would rank texts with a hyphen, which are indexed
under both forms, above texts with the open form.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from ..index.compounds import is_one_word
from ..index.letters import bare, normalise
from ..index.patterns import LETTER_BESIDE_DIGIT
from ..index.reader import Index
from ..index.tokens import Token
from .journal import TEXT_UNITS, Journal
from .timing import stage

STAGE = "spelling"
SAMPLED = 64  # Chunks with the closed form that are checked for its parts.
# Share of those chunks that must lack the parts, for the closed form to be used.
LEAST_WITHOUT = 0.1
MAX_APART = 2  # Maximum number of unknown words of a query that are split in two.
READ_CHUNKS = 10  # Number of chunks read to check whether two words are adjacent.
SEARCH_UNITS = 2_000
MIN_PART, MIN_WHOLE, MAX_WHOLE = 3, 6, 24  # Letters

_SHORT_PARTS = frozenset("by in io js on up".split())
_APART = re.compile("[- ]")


@stage(STAGE)
def respell(index: Index, tokens: Sequence[Token], journal: Journal) -> list[Token]:
    """Return the tokens of a query, with the terms under which their words are indexed."""
    spelt: list[Token] = []
    for token in _without_signs(index, tokens):
        if token.spellings:
            spelt.append(token._replace(terms=_choose(index, token.text, *token.spellings)))
        elif spelt and (both := _join(index, spelt[-1], token)) is not None:
            spelt[-1] = both
        else:
            spelt.append(token)
    frequency, left = index.keyword_lane.frequency, MAX_APART
    for place, token in enumerate(spelt):
        if left and token.terms and not token.spellings and not frequency(token.terms[0]):
            if token.text not in journal.apart:
                journal.apart[token.text] = _cut(index, token, journal)
            spelt[place] = journal.apart[token.text] or token
            left -= 1
    return spelt


def _without_signs(index: Index, tokens: Sequence[Token]) -> Sequence[Token]:
    """Drop the terms of signs beside words, except those of operators that the index has.

    Few chunks have an arrow or a picture, so they would outweigh the words.
    """
    if all(token.is_sign or not token.terms for token in tokens):
        return tokens
    frequency = index.keyword_lane.frequency
    return [
        (
            token
            if not token.is_sign or (token.text.isascii() and frequency(token.terms[0]))
            else token._replace(terms=())
        )
        for token in tokens
    ]


def _choose(
    index: Index, text: str, parts: tuple[str, ...], whole: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the terms to search for, given those of the parts and of the closed form."""
    frequency = index.keyword_lane.frequency
    if parts == whole or not all(map(frequency, whole)):
        return parts
    if not all(map(frequency, parts)):
        return whole
    words = _APART.split(text)
    if len(words) == 2 and is_one_word(*words):  # Both forms are indexed.
        return (*whole, *parts)
    chunks = np.sort(index.keyword_lane.having(whole[0])[:SAMPLED].astype(np.int64))
    has_parts = [index.keyword_lane.scores([part], chunks) > 0 for part in parts]
    without = np.count_nonzero(~np.all(has_parts, axis=0))
    return (*whole, *parts) if without >= LEAST_WITHOUT * len(chunks) else parts


def _join(index: Index, first: Token, second: Token) -> Token | None:
    """Return two words, or a number and its unit, as one token if the index has the closed form."""
    if first.spellings or second.spellings or not len(first.terms) == len(second.terms) == 1:
        return None
    begun = first.text
    if not (begun.isalnum() and second.text.isalnum()) or (begun + second.text).isdigit():
        return None
    # Longer words lose more in stemming: the stem of `tidegate` has no `e` at its end.
    ends = [second.terms[0].removesuffix(cut) for cut in ("", "e", "er")]
    wholes = [bare(begun.casefold()) + end for end in dict.fromkeys(ends)]
    whole = next(filter(index.keyword_lane.frequency, wholes), None)
    if whole is None:
        return None
    spellings = (first.terms + second.terms, (whole,))
    text = f"{begun} {second.text}"
    return Token(text, _choose(index, text, *spellings), spellings=spellings)


def _cut(index: Index, token: Token, journal: Journal) -> Token | None:
    """Split a word that is in no text into two that occur side by side, or return None."""
    frequency = index.keyword_lane.frequency
    for first, second in _cuts(token):
        # Stemming each prefix takes longer than looking it up.
        begun = first.casefold()
        if not (frequency(begun) or frequency(begun.removesuffix("e"))):
            continue
        # The parts are tokenized together: whether a letter is a word may depend on the number
        # before it.
        tokens = index.tokenizer.tokenize(f"{first} {second}")
        parts = [term for each in tokens for term in each.spelt(as_one=False)]
        if (len(tokens) == 1 and not tokens[0].spellings) or not all(map(frequency, parts)):
            continue
        units = SEARCH_UNITS + sum(map(frequency, parts)) + READ_CHUNKS * TEXT_UNITS
        if not journal.spend(STAGE, units):
            break
        written = _as_written(first, second)
        for chunk in index.best_chunks(parts, READ_CHUNKS):
            passage = normalise("\n".join([*chunk.headings(), chunk.text])).casefold()
            if written.search(passage):
                return Token(token.text, tuple(parts), spellings=(tuple(parts), token.terms[:1]))
    return None


def _cuts(token: Token) -> Iterator[tuple[str, str]]:
    text = token.text
    if text.isalpha() and not token.is_identifier and MIN_WHOLE <= len(text) <= MAX_WHOLE:
        for end in range(len(text) - len("up"), MIN_PART - 1, -1):
            second = text[end:]
            if len(second) >= MIN_PART or second.casefold() in _SHORT_PARTS:
                yield text[:end], second
    elif token.is_identifier:
        for match in LETTER_BESIDE_DIGIT.finditer(text):
            first = text[: match.start()]
            # A version such as `TLSv1.3` is divided before its `v`.
            yield (first[:-1] if first[-1] in "vV" and len(first) > 2 else first), text[
                match.end() :
            ]


def _as_written(first: str, second: str) -> re.Pattern[str]:
    """Return a pattern for two adjacent words, with any ending of the second."""
    begun, rest = re.escape(first.casefold()), second.casefold()
    if rest.isalpha() and len(rest) > len("v"):
        end = rf"{re.escape(rest[: max(len('up'), len(rest) - 1)])}[^\W\d_]{{0,3}}"
    else:
        end = re.escape(rest)
    return re.compile(rf"(?<![^\W_]){begun}[^\w\n]{{1,3}}v?{end}(?![^\W_])")
