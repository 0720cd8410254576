"""Identifiers in queries: `D40`, `30 CFR 75.1725` and `CVE-2024-3095` each name one thing.

A semantic lane can only blur them, so a query that is nothing but one is answered by keywords.

A corpus may have the parts of an identifier and not the identifier: `CVE-2024-0000`, where there
are other incidents of 2024. What is found for a part is never as good as it gets, see
`score_against_unknown`. An identifier is known if its whole is a term of the index. Otherwise the
best passages for its parts are read, because `std::vector` stands in `std::vector::push_back`, and
`WiFi` in "Wi-Fi". What no term tells, such as the dashes of `--verbose`, is looked for in the
passages as well, and counts as known unless all that it could stand in have been read.

`patterns` are the owner's own, of `identifier_patterns` in foundry.toml.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..index.reader import Index
from .lanes import LaneHits
from .tokens import Token

Patterns = Sequence[re.Pattern[str]]

MAX_PATTERN_INPUT = 200
"""Characters of a query that the owner's own patterns are tried on."""

READ_PASSAGES = 50
"""For all identifiers of a query together; none for a query above `MAX_PATTERN_INPUT`."""

_OPTION = re.compile(r"(?:--?|/)[A-Za-z][\w:+.-]*")
# In a sentence these name nothing: `2.5`, `10:30`, `24/7`, `2nd`, `90-day`; `e.g`, `U.S`.
_QUANTITY = re.compile(
    r"\d+(?:\.\d{1,2}|(?:[:/-]\d+)+)?(?:\.?-?[a-z]+|-[A-Z][a-z]+)*|[^\W\d_](?:\.[^\W\d_])+"
)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PIECE = re.compile(r"[^\W\d_]+|\d+")
_LETTER = re.compile(r"[^\W\d_]")
_LEAD = re.compile(r"[\W_]*")
_TAIL = re.compile(r"[\W_]*\Z")
_DASH = "[-\u2010-\u2015\u2212]"


def is_identifier_query(query: str, tokens: Sequence[Token], patterns: Patterns = ()) -> bool:
    """Return whether every meaningful token is an identifier, or belongs to one beside it.

    Meaningful tokens are those with index terms. A query or token that one of `patterns` matches
    from end to end is an identifier too, and so is a query like `--verbose` or `/Zi`.
    """
    trimmed = query.strip()
    if len(trimmed) > MAX_PATTERN_INPUT:
        return False
    if is_written_identifier(trimmed, patterns):
        return True
    found = False
    for token in tokens:
        if not token.terms:
            continue
        if is_identifier(token, patterns):
            found = True
        elif not token.may_accompany:
            return False
    return found


def is_written_identifier(query: str, patterns: Patterns = ()) -> bool:
    """Return whether a query as it is written is an option, or what one of `patterns` matches."""
    return _matches(query.strip(), (_OPTION, *patterns))


def is_identifier(token: Token, patterns: Patterns) -> bool:
    """Return whether a token is an identifier by its form, or by one of `patterns`."""
    return token.is_identifier or _matches(token.text, patterns)


def _matches(text: str, patterns: Patterns) -> bool:
    return len(text) <= MAX_PATTERN_INPUT and any(one.fullmatch(text) for one in patterns)


def find_identifiers(tokens: Iterable[Token], patterns: Patterns = ()) -> list[Token]:
    """Return the tokens that are identifiers, each with at least one term."""
    return [token for token in tokens if token.terms and is_identifier(token, patterns)]


def whole_terms(token: Token) -> tuple[str, ...]:
    """Return the terms of an identifier that stand for the whole of it, not for a part."""
    # What only the owner's patterns know has no term of its own.
    return token.terms[:1] if token.is_identifier else token.terms


@dataclass(frozen=True, slots=True)
class _Identifier:
    """An identifier as a query writes it, and the terms that every text with it has.

    `is_told_by_terms` is false where a text without it may have them all.
    """

    text: str
    terms: tuple[str, ...]
    is_told_by_terms: bool


def find_unknown_identifiers(
    index: Index, query: str, tokens: Sequence[Token], patterns: Patterns
) -> tuple[str, ...]:
    """Return the identifiers of a query that stand nowhere in the index, in the query's order.

    A number has the acronym before it: `30 CFR 99.999`. `patterns` are the owner's. Raises
    StoreError.
    """
    found = [*_identifiers(query, [token for token in tokens if token.terms], patterns)]
    is_short = len(query) <= MAX_PATTERN_INPUT
    passages = max(1, READ_PASSAGES // max(1, len(found))) if is_short else 0
    unknown = (each.text for each in found if not _is_known(index, each, passages))
    return tuple(dict.fromkeys(unknown))


def score_against_unknown(
    keyword: LaneHits, index: Index, terms: Sequence[str], unknown: Sequence[str]
) -> LaneHits:
    """Return the keyword lane's hits, of which none is worth 1 if identifiers are unknown.

    1 is then worth the best score and, for each of the query's terms that is of an unknown
    identifier and in no chunk, the idf of such a term: what it could have added at most.
    """
    if not unknown:
        return keyword
    theirs = {term for text in unknown for term in index.tokenizer.terms(text)}
    missing = [t for t in terms if t in theirs and not index.keyword_lane.frequency(t)]
    rarest = math.log(1 + (index.chunk_count + 0.5) / 0.5)
    # Without a missing term the passages have told: then the identifier itself is missing.
    return replace(keyword, missing_score=max(1, len(missing)) * rarest)


def finds_identifier(
    keyword: LaneHits, index: Index, tokens: Sequence[Token], patterns: Patterns
) -> bool:
    """Return whether one of the keyword lane's hits has an identifier of the query, not a part.

    Raises StoreError.
    """
    wholes = {whole_terms(token) for token in find_identifiers(tokens, patterns)}
    chunks = np.sort(keyword.chunks)
    scores = index.keyword_lane.scores
    found = (np.all([scores([term], chunks) for term in whole], axis=0) for whole in wholes)
    return any(map(np.any, found)) if wholes else len(keyword) > 0


def _identifiers(query: str, tokens: Sequence[Token], patterns: Patterns) -> Iterator[_Identifier]:
    if is_written_identifier(query, patterns):
        terms = tuple(term for token in tokens for term in token.terms)
        yield _Identifier(query.strip(), terms, is_told_by_terms=False)
        return
    is_alone = is_identifier_query(query, tokens, patterns)
    for place, token in enumerate(tokens):
        if not is_identifier(token, patterns):
            continue
        text, before = token.text, _companions(tokens[:place])
        is_number = _LETTER.search(text) is None
        is_quantity = _QUANTITY.fullmatch(text) is not None
        is_named = is_number and "." in text and before
        # Other scripts write particles and numbers as one word.
        if (is_quantity or not text.isascii()) and not is_alone and not is_named:
            continue
        whole = re.sub(r"[-_]+", "", text).casefold()
        is_told = token.is_identifier and token.terms[0] == whole and not text.startswith("_")
        terms = whole_terms(token)
        if is_number and before:
            text = " ".join([*(member.text for member in before), text])
            # 75.1725 says enough by itself, and 802.3 does not.
            if is_quantity:
                terms += tuple(term for member in before for term in member.terms)
        yield _Identifier(text, terms, is_told)


def _companions(tokens: Sequence[Token]) -> list[Token]:
    """Return the acronym at the end of `tokens`, with the numbers beside it; none without an
    acronym."""
    companions: list[Token] = []
    for token in reversed(tokens):
        if not token.may_accompany or token.is_identifier:
            break
        companions.insert(0, token)
    return companions if any(token.text.isalpha() for token in companions) else []


def _is_known(index: Index, identifier: _Identifier, passages: int) -> bool:
    frequency, terms_of = index.keyword_lane.frequency, index.tokenizer.terms
    text, terms = identifier.text, identifier.terms
    if identifier.is_told_by_terms:
        # Also in one case throughout, as a word that has a stem: `Powershell` for `PowerShell`.
        if all(map(frequency, terms)) or all(map(frequency, terms_of(text.casefold()))):
            return True
        terms = tuple(term for term in terms_of(text) if term != terms[0])
    fewest = min(map(frequency, terms), default=0)
    if not fewest or not passages:
        return fewest > 0
    written = _as_written(text)
    for number in index.keyword_lane.search(terms, passages).chunks:
        chunk = index.chunk(int(number))
        passage = "\n".join([*chunk.headings(), chunk.text])
        if written.search(unicodedata.normalize("NFKC", passage).casefold()):
            return True
    return not identifier.is_told_by_terms and fewest > passages


def _as_written(text: str) -> re.Pattern[str]:
    """Return what finds an identifier in a normalised text, also with other joints or none."""
    normal = unicodedata.normalize("NFKC", text)
    lead, tail = (found[0] if (found := ends.search(normal)) else "" for ends in (_LEAD, _TAIL))
    pieces = _PIECE.findall(_HUMP.sub(" ", normal))
    whole = r"(?:::|[\W_])?".join(re.escape(piece.casefold()) for piece in pieces)
    end = r"(?!-?\w)" if lead else r"(?![^\W_])"
    either = rf"{_literal(lead)}{whole}{_literal(tail)}|{re.escape(normal.casefold())}"
    return re.compile(rf"(?<![^\W_])(?:{either}){end}")


def _literal(joints: str) -> str:
    """A pattern for characters before or after a name; texts have two dashes as one longer."""
    return re.sub(r"(?:\\-)+", f"{_DASH}{{1,2}}", re.escape(joints))
