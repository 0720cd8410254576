"""Operators in queries: `"exact phrase"`, `+word`, `-word` and `field:value`.

    query    = (item | plain text)*
    item     = [+-]? '"' phrase '"'  |  [+-] word  |  [+-]? field ':' (value | '"' value '"')

Items are separated by white space. A word begins with a letter and has two characters or more, a
field is a filter of the index, and a value must occur in some chunk. Everything else is plain text:
`C++`, `-5`, `a - b`, `10:30`, `std::vector`, URLs and an unpaired quote. No query is rejected: one
that has only filters searches for their values, and operators that cannot be applied are reported.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from ...errors import InvalidRequestError
from ...index.reader import Index
from ...index.tokens import Token
from ..filters import KNOWN_FIELDS, FilterColumns
from ..identifiers import whole_terms
from ..journal import Journal, format_filters, quote
from ..respelling import respell
from ..timing import stage

STAGE = "operators"
# Minimum cost of a word, a phrase (for which a pattern is compiled) and a filter.
WORD_UNITS, PHRASE_UNITS, FILTER_UNITS = 2_000, 6_000, 2_000
CHUNKS_OF_UNIT = 20  # Marking this many chunks takes one unit.
MAX_ITEMS = 16  # Maximum number of operators; others are plain text.
MAX_TERMS = 16  # A chunk is read for a phrase if it has its rarest terms, up to this number.

_ITEM = re.compile(
    r"(?<!\S)(?:"
    r"(?P<sign>[-+]?)[\"\u201c\u201e](?P<phrase>[^\"\u201c-\u201e]+)[\"\u201c\u201d]"
    r"|(?P<not>[-+]?)(?P<field>[^\W\d]\w*):"
    r"(?:\"(?P<quoted>[^\"]+)\"|(?P<value>[^\s\"]*[^\s\".,;:!?)\]]))"
    r"|(?P<mark>[-+])(?P<word>[^\W\d_][\w:.'\u2019&#+-]*[\w#+])"
    r")(?=[.,;:!?)\]]*(?!\S))"
)
_WORD = re.compile(r"[^\W\d_][\w:.'\u2019&#+-]*[\w#+]")
_SYNONYMS = {"tag": "tags"}


class Item(NamedTuple):
    """A word or phrase that a hit must contain, or must not if it `is_excluded`."""

    text: str
    is_phrase: bool
    is_excluded: bool


Filter = tuple[str, str]
"""A name and a value."""


@dataclass(frozen=True, slots=True)
class Operators:
    """A query without its operators, and the operators.

    `excluded` are filters that a hit must not pass; `left_out` explains operators that were not
    applied.
    """

    text: str
    items: tuple[Item, ...] = ()
    filters: tuple[Filter, ...] = ()
    excluded: tuple[Filter, ...] = ()
    left_out: tuple[str, ...] = field(default=(), compare=False)


@stage(STAGE)
def read_operators(index: Index, query: str, journal: Journal) -> tuple[str, Operators]:
    """Return a query without its operators, and the operators; note them in the journal."""
    found = parse_operators(index, query, journal)
    said: dict[str, object] = {}
    for kind, items in _by_kind(found.items).items():
        said[kind] = [item.text for item in items]
    wanted = [item.text for item in found.items if not item.is_excluded]
    unwanted = [item.text for item in found.items if item.is_excluded]
    told = [f"Only passages with {quote(wanted)}."] if wanted else []
    told += [f"No passages with {quote(unwanted)}."] if unwanted else []
    for key, pairs, word in (
        ("filters", found.filters, "Only"),
        ("without", found.excluded, "Nothing with"),
    ):
        if pairs:
            said[key] = collect(pairs)
            told.append(f"{word} {format_filters(collect(pairs))}.")
    if said:
        said["query"] = found.text
    if found.left_out:
        said["notice"] = " ".join(found.left_out)
        told += found.left_out
    if said:
        journal.note(STAGE, *told, **said)
    return found.text, found


def _by_kind(items: Iterable[Item]) -> dict[str, list[Item]]:
    kinds: dict[str, list[Item]] = {}
    for item in items:
        kind = "excluded" if item.is_excluded else "phrases" if item.is_phrase else "required"
        kinds.setdefault(kind, []).append(item)
    return kinds


def parse_operators(index: Index, query: str, journal: Journal) -> Operators:
    """Return the operators of any query; the index decides which filters exist.

    After the budget of the query is spent, the rest is plain text.
    """
    items: list[Item] = []
    # The keys: False for required filters, True for excluded ones.
    filters: dict[bool, list[Filter]] = {False: [], True: []}
    left_out: list[str] = []
    kept, end = [""], 0
    for match in _ITEM.finditer(query):
        if len(items) + sum(map(len, filters.values())) == MAX_ITEMS:
            left_out.append(f"Only the first {MAX_ITEMS} operators are applied.")
            break
        text = match["phrase"] or match["word"] or ""
        is_excluded = (match["sign"] or match["mark"] or match["not"]) == "-"
        pair = None
        if match["field"]:
            if not journal.spend(STAGE, FILTER_UNITS + index.chunk_count // CHUNKS_OF_UNIT):
                break
            pair, problem = _read_filter(index, match["field"], match["quoted"] or match["value"])
            if problem:
                left_out.append(f"{problem}: searched for {quote([match[0]])} as text.")
                continue
            # If it is not a filter, it is a word that contains a colon, such as `-std::vector`.
            text = match[0][1:] if match["not"] and _WORD.fullmatch(match[0][1:]) else ""
        if pair is not None:
            filters[is_excluded].append(pair)
            text = ""
        elif any(map(str.isalnum, text)):
            item = Item(" ".join(text.split()), match["phrase"] is not None, is_excluded)
            if not journal.spend(STAGE, _cost(index, item)):
                break
            items.append(item)
        else:
            continue
        kept += [query[end : match.start()], "" if is_excluded else text]
        end = match.end()
    rest = " ".join("".join([*kept, query[end:]]).split())
    applied = tuple(items), tuple(filters[False]), tuple(filters[True])
    if not any(applied):
        return Operators(query, left_out=tuple(left_out))
    if not any(map(str.isalnum, rest)):
        rest = " ".join(value for _, value in filters[False])
    if not _is_searchable(index, rest, has_filter=bool(filters[False])):
        left_out.append(f"{quote([query.strip()])} contains no words to search for: add some.")
        return Operators(query, left_out=tuple(left_out))
    return Operators(rest, *applied, tuple(left_out))


def _is_searchable(index: Index, text: str, *, has_filter: bool) -> bool:
    """Return whether the text without operators can find anything."""
    # Only the beginning of a long text is searched for.
    searched = index.tokenizer.tokenize_query(text)[1]
    if has_vectors(index):
        return any(map(str.isalnum, text))
    terms = [term for token in searched for term in token.terms]
    # If a query has only filters, their values are searched for, which may occur in no text.
    return any(map(index.keyword_lane.frequency, terms)) if has_filter else bool(terms)


def has_vectors(index: Index) -> bool:
    """Return whether an index supports semantic search."""
    return getattr(index, "dense_lane", None) is not None


def _read_filter(index: Index, field: str, value: str) -> tuple[Filter | None, str]:
    """Return a filter that some chunk passes, or None and an explanation of the problem.

    The explanation is empty if the index has no filter of this name.
    """
    name = _SYNONYMS.get(field.casefold(), field)
    filters = index.part(FilterColumns.open)
    names = {known.casefold(): known for known in (*filters.columns, *KNOWN_FIELDS)}
    name = names.get(name.casefold(), "")
    try:
        passing = filters.select({name: value}) if name else None
    except InvalidRequestError as error:
        return None, f"{name}: {error.message}"
    if passing is None:
        return None, ""
    problem = "" if passing.any() else f"No document has {format_filters({name: value})}"
    return (None if problem else (name, value)), problem


def collect(pairs: Iterable[Filter]) -> dict[str, list[str]]:
    """Group the values of filters by name."""
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return values


def terms_of(index: Index, item: Item) -> list[str]:
    """Return the terms that find chunks with an item, rarest first; none for stop words."""
    frequency = index.keyword_lane.frequency
    tokens = index.tokenizer.tokenize(item.text)
    if not item.is_phrase:
        tokens = respell(index, tokens, Journal())
    terms = {term for token in tokens for term in _terms_of_token(index, token, item)}
    return sorted(terms, key=lambda term: (frequency(term), term))[:MAX_TERMS]


def _terms_of_token(index: Index, token: Token, item: Item) -> tuple[str, ...]:
    # Most texts with a compound are indexed under its closed form; a phrase is matched as written.
    whole = token.spelt(as_one=True)
    is_whole = bool(token.spellings) and not item.is_phrase
    return (
        whole if is_whole and all(map(index.keyword_lane.frequency, whole)) else whole_terms(token)
    )


def _cost(index: Index, item: Item) -> int:
    """Return the cost in units of finding the chunks that contain the words of an item."""
    frequency = index.keyword_lane.frequency
    least = PHRASE_UNITS if item.is_phrase else WORD_UNITS
    least += index.chunk_count // CHUNKS_OF_UNIT  # Marking the chunks has a cost too
    terms = terms_of(index, item)
    if not terms:
        return least
    # Selecting a phrase's best chunks reads the postings of all its words.
    chosen = sum(map(frequency, index.tokenizer.terms(item.text))) if item.is_phrase else 0
    return least + frequency(terms[0]) * len(terms) + chosen
