"""Identifiers in queries: `D40`, `30 CFR 75.1725` and `CVE-2024-3095` each name one thing.

Embeddings blur identifiers, so a query that is only an identifier is answered by keywords. If the
whole identifier is not a term of the index, the best chunks for its parts are read and matched:
`std::vector` occurs in `std::vector::push_back`, `WiFi` in "Wi-Fi", and the dashes of `--verbose`
are in no term. `patterns` are `identifier_patterns` of foundry.toml.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from ..index.protocols import LaneHits
from ..index.reader import Index
from ..index.tokens import Token
from .journal import TEXT_UNITS, Journal

Patterns = Sequence[re.Pattern[str]]

MAX_PATTERN_INPUT = 200  # Longer queries match no pattern, and no chunks are read for them.
SEARCH_UNITS = 2_000  # Cost of finding the chunks that may contain an identifier.
READ_CHUNKS = 50  # Maximum number of chunks read for all identifiers of a query together.

_OPTION = re.compile(r"(?:--?|/)[A-Za-z][\w:+.-]*")
# Within a sentence, these are not identifiers: `2.5`, `10:30`, `24/7`, `2nd`, `90-day`; `e.g`,
# `U.S`.
_QUANTITY = re.compile(
    r"\d+(?:\.\d{1,2}|(?:[:/-]\d+)+)?(?:\.?-?[a-z]+|-[A-Z][a-z]+)*|[^\W\d_](?:\.[^\W\d_])+"
)
_PATH = re.compile(r"(?i)(?<![\w/.:-])((?:[a-z]\w{2,}/)+)\w{3,}(?![\w/:-]|\.\w)")
_QUALIFIED = re.compile(r"(?:[^\W\d]\w*(?:\.|::))+([^\W\d]\w*)")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PIECE = re.compile(r"[^\W\d_]+|\d+")
_LETTER = re.compile(r"[^\W\d_]")
_OTHER_BYTES = bytes(byte for byte in range(256) if byte > 127 or not chr(byte).isalnum())
_LEAD, _TAIL = re.compile(r"\A[\W_]*"), re.compile(r"[\W_]*\Z")


def is_identifier_query(query: str, tokens: Sequence[Token], patterns: Patterns = ()) -> bool:
    """Return whether a query consists only of identifiers and words that belong to them."""
    if len(query.strip()) > MAX_PATTERN_INPUT:
        return False
    found = find_identifiers(tokens, patterns)
    others = (token for token in tokens if token.terms and token not in found)
    is_all = bool(found) and all(token.may_accompany for token in others)
    return is_all or is_written_identifier(query, patterns)


def is_written_identifier(query: str, patterns: Patterns = ()) -> bool:
    """Return whether a query is an option like `--verbose` or `/Zi`, or matches a pattern."""
    return _matches(query.strip(), (_OPTION, *patterns))


def is_identifier(token: Token, patterns: Patterns) -> bool:
    """Return whether a token has the form of an identifier, or matches one of `patterns`."""
    return (
        token.is_identifier or token.is_sign or (bool(patterns) and _matches(token.text, patterns))
    )


def _matches(text: str, patterns: Patterns) -> bool:
    return len(text) <= MAX_PATTERN_INPUT and any(each.fullmatch(text) for each in patterns)


def find_identifiers(tokens: Iterable[Token], patterns: Patterns = ()) -> list[Token]:
    """Return the tokens that are identifiers and have a term."""
    return [token for token in tokens if token.terms and is_identifier(token, patterns)]


def whole_terms(token: Token) -> tuple[str, ...]:
    """Return the terms of an identifier as a whole, without those of its parts."""
    # A token that only matches a pattern has no term of its own.
    return token.terms[:1] if token.is_identifier else token.spelt(as_one=False)


def note_unknown_identifiers(
    index: Index, query: str, tokens: Sequence[Token], patterns: Patterns, journal: Journal
) -> None:
    """Note in the journal which identifiers of a query the index lacks. Raises StoreError.

    Identifiers that exceed the query's budget are skipped.
    """
    found = [*_identifiers(query, [token for token in tokens if token.terms], patterns)]
    each = max(1, READ_CHUNKS // max(1, len(found))) if len(query) <= MAX_PATTERN_INPUT else 0
    unknown = (
        one.text
        for one in found
        if not any(
            _is_known(index, name, each, journal) for name in (one, *_unqualified(index, one))
        )
    )
    journal.unknown_identifiers = tuple(dict.fromkeys(unknown))


def finds_identifier(
    keyword: LaneHits, index: Index, query: str, tokens: Sequence[Token], patterns: Patterns
) -> bool:
    """Return whether a query is an identifier that a hit contains as a whole. Raises StoreError."""
    if keyword.missing_score or not is_identifier_query(query, tokens, patterns):
        return False
    wholes = {whole_terms(token) for token in find_identifiers(tokens, patterns)}
    chunks = np.sort(keyword.chunks)
    scores = index.keyword_lane.scores
    found = (np.all([scores([term], chunks) for term in whole], axis=0) for whole in wholes)
    return any(map(np.any, found)) if wholes else len(keyword) > 0


class _Identifier(NamedTuple):
    """An identifier as written in a query, and terms that every text with it has."""

    text: str
    terms: tuple[str, ...]
    is_told_by_terms: bool  # Whether a text with all terms always contains the identifier.


def _identifiers(query: str, tokens: Sequence[Token], patterns: Patterns) -> Iterator[_Identifier]:
    if is_written_identifier(query, patterns):
        terms = tuple(term for token in tokens for term in token.terms)
        yield _Identifier(query.strip(), terms, is_told_by_terms=False)
        return
    found = [(place, each) for place, each in enumerate(tokens) if is_identifier(each, patterns)]
    is_alone = bool(found) and is_identifier_query(query, tokens, patterns)
    for place, token in found:
        text, terms, before = token.text, whole_terms(token), _companions(tokens[:place])
        is_number = _LETTER.search(text) is None
        is_quantity = _QUANTITY.fullmatch(text) is not None
        is_named = is_number and "." in text and before
        # In other scripts, particles and numbers are attached to words.
        is_usual = is_quantity or token.is_sign or not text.isascii()
        if is_usual and not is_alone and not is_named:
            continue
        whole = re.sub(r"[-_]+", "", text).casefold()
        is_told = token.is_identifier and whole.removeprefix("v") == token.terms[0].removeprefix(
            "v"
        )
        is_told = token.is_sign or (is_told and not text.startswith("_"))
        if is_number and before:
            text = " ".join([*(member.text for member in before), text])
            # 75.1725 is specific enough by itself; 802.3 is not.
            if is_quantity:
                terms += tuple(term for member in before for term in member.terms)
        yield _Identifier(text, terms, is_told)
    yield from (_Identifier(path[0], (), False) for path in _PATH.finditer(query))


def _unqualified(index: Index, identifier: _Identifier) -> Iterator[_Identifier]:
    """Yield the last part of a qualified name, such as `http.SSLError`, if it is an identifier.

    Documents usually describe a name without its packages.
    """
    if name := _QUALIFIED.fullmatch(identifier.text):
        yield from _identifiers(name[1], index.tokenizer.tokenize(name[1]), ())


def _companions(tokens: Sequence[Token]) -> list[Token]:
    """Return the acronym at the end of `tokens`, if any, and the numbers next to it."""
    last = takewhile(lambda one: one.may_accompany and not one.is_identifier, reversed(tokens))
    found = [*last][::-1]
    return found if any(token.text.isalpha() for token in found) else []


def _is_known(index: Index, identifier: _Identifier, most_read: int, journal: Journal) -> bool:
    frequency, terms_of = index.keyword_lane.frequency, index.tokenizer.terms
    text, terms = identifier.text, identifier.terms or tuple(terms_of(identifier.text))
    if identifier.is_told_by_terms:
        # Written in another case, an identifier is an ordinary stemmed word: `Powershell` for
        # `PowerShell`.
        if all(map(frequency, terms)) or all(map(frequency, terms_of(text.casefold()))):
            return True
        terms = tuple(term for term in terms_of(text) if term != terms[0])
    alone = "" if identifier.terms else "".join(_PATH.findall(text.casefold()))
    fewest = min(map(frequency, terms), default=0)
    if not fewest or not most_read:
        return fewest > 0 or alone != ""
    units = SEARCH_UNITS + sum(map(frequency, terms)) + min(fewest, most_read) * TEXT_UNITS
    if not journal.spend("unknown_identifiers", units):
        return True
    letters = letters_of(unicodedata.normalize("NFKC", text).casefold())
    for chunk in index.best_chunks(terms, most_read):
        passage = "\n".join([*chunk.headings(), chunk.text])
        folded = unicodedata.normalize("NFKC", passage).casefold()
        # Compiling a pattern takes as long as reading several chunks.
        if letters in letters_of(folded) and _as_written(text).search(folded):
            return True
        alone = "" if alone and alone in _PATH.findall(folded) else alone
    # The identifier may occur in an unread chunk. Or the text is not an identifier, because no
    # other path begins like it: `tools/list`.
    return alone != "" or (not identifier.is_told_by_terms and fewest > most_read)


def letters_of(text: str) -> bytes:
    """Return the ASCII letters and digits of a text, joined."""
    return text.encode("utf-8", "replace").translate(None, _OTHER_BYTES)


def _as_written(text: str) -> re.Pattern[str]:
    """Return a pattern for an identifier in normalised text, with other separators or none."""
    normal = unicodedata.normalize("NFKC", text)
    ends = [re.escape(end.findall(normal)[0]) for end in (_LEAD, _TAIL)]
    # Normalisation turns two dashes into one longer dash.
    lead, tail = (re.sub(r"(?:\\-)+", "[-\u2010-\u2015\u2212]{1,2}", end) for end in ends)
    pieces = _PIECE.findall(_HUMP.sub(" ", normal))
    whole = r"(?:::|[\W_])?".join(re.escape(piece.casefold()) for piece in pieces)
    either = rf"{lead}{whole}{tail}|{re.escape(normal.casefold())}"
    return re.compile(rf"(?<![^\W_])(?:{either})" + (r"(?!-?\w)" if lead else r"(?![^\W_])"))
