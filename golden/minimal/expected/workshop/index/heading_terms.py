"""Terms of whole headings, and the terms that are looked up for a query, which may name a heading.

A heading has one term of all its words (`=safety requir`), so that a query that names it finds its
section first. A heading of one word has another, in its original spelling (`==_open`).
"""

from collections.abc import Iterable, Sequence

from .tokens import Token

MAX_HEADING_TERMS = 24  # Longer headings and queries have no such term.

HEADING_MARK = "="  # Prefix of the term of a heading; terms of text never begin with it.
SURFACE_MARK = 2 * HEADING_MARK  # Prefix of the term of a word in its original spelling.
NAMED = 4  # Term frequency of a heading term; titles have more, parts of headings less.

_FRAME_WORDS = frozenset("about all describe explain find give please show tell".split())
_ASKING_WORDS = frozenset("define definition mean meaning means page reference".split())


def heading_term(tokens: Iterable[Token], *, as_one: bool = False) -> str | None:
    """Return the term of a whole heading, or of a query that may name one.

    `Safety Requirements` and `What are the safety requirements?` have the same term. Compounds are
    taken in their closed form if `as_one`, else in their open form. Returns None for text without
    terms, or with more than MAX_HEADING_TERMS.
    """
    terms = [term for token in _named(tokens) for term in token.spelt(as_one=as_one)]
    return HEADING_MARK + " ".join(terms) if 0 < len(terms) <= MAX_HEADING_TERMS else None


def surface_term(tokens: Iterable[Token]) -> str | None:
    """Return the term of a single word in its original spelling; None unless there is just one.

    It distinguishes `_open` from `open`.
    """
    named = _named(tokens)
    return SURFACE_MARK + named[0].text if len(named) == 1 else None


def query_terms(tokens: Sequence[Token]) -> list[str]:
    """Return the terms to look up for a query: its own, and those of headings it may name.

    Such a heading may equal the whole query, the query without question words, or only the
    identifier in `12 CFR 1005.6`.
    """
    asked = [token for token in tokens if token.text.casefold() not in _ASKING_WORDS]
    is_cited = all(token.is_identifier or token.may_accompany for token in _named(asked))
    cited = [token for token in asked if token.is_identifier and is_cited]
    names = [*map(heading_term, (tokens, asked, cited)), surface_term(asked)]
    if any(token.spellings for token in asked):
        names += [heading_term(each, as_one=True) for each in (tokens, asked)]
    terms = [term for token in tokens for term in token.terms]
    return [*terms, *filter(None, dict.fromkeys(names))]


def _named(tokens: Iterable[Token]) -> list[Token]:
    found = [token for token in tokens if token.terms and token.text.casefold() not in _FRAME_WORDS]
    return [token for token in found if not token.is_sign] or found


def heading_parts(heading: str) -> list[str]:
    """Return the terms that make up a heading term; one in original spelling is its only part."""
    return [heading] if heading.startswith(SURFACE_MARK) else heading[1:].split(" ")
