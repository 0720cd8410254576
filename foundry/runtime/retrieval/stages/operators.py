"""Operators in queries: `"exact phrase"`, `+word`, `-word` and `field:value`.

    query    = (item | plain text)*
    item     = [+-]? '"' phrase '"'  |  [+-] word  |  field ':' (value | '"' value '"')

There is white space around an item. A word begins with a letter and has two characters or more, a
field is a filter of the index, and a value is one that some chunk has. All else is plain text, and
so is a query that leaves nothing to search for: no query is refused. `C++`, `-5`, `a - b`, `10:30`,
`std::vector`, urls and a quote without its partner mean what they say.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...index.reader import Index
from ..candidates import Mask, stage
from ..filters import KNOWN_FIELDS, FilterColumns, parse_filters
from ..identifiers import whole_terms
from ..results import Journal
from ..settings import InvalidRequestError

MAX_ITEMS = 16  # What follows them in a query is plain text.
MAX_TERMS = 16  # The rarest terms of a phrase, by which chunks are found that may have it.

_ITEM = re.compile(
    r"(?<!\S)(?:"
    r"(?P<sign>[-+]?)[\"\u201c\u201e](?P<phrase>[^\"\u201c-\u201e]+)[\"\u201c\u201d]"
    r"|(?P<mark>[-+])(?P<word>[^\W\d_][\w:.'\u2019&#+-]*[\w#+])"
    r"|(?P<field>[^\W\d]\w*):(?:\"(?P<quoted>[^\"]+)\"|(?P<value>[^\s\"]*[^\s\".,;:!?)\]]))"
    r")(?=[.,;:!?)\]]*(?!\S))"
)
_SYNONYMS = {"tag": "tags"}


class Item(NamedTuple):
    """A word or phrase that a hit must have, or must not have if it `is_excluded`."""

    text: str
    is_phrase: bool
    is_excluded: bool


@dataclass(frozen=True, slots=True)
class Operators:
    """A query without its operators, and what they ask for; `filters` are pairs (name, value)."""

    text: str
    items: tuple[Item, ...] = ()
    filters: tuple[tuple[str, str], ...] = ()


@stage("operators")
def read_operators(index: Index, query: str, journal: Journal) -> Operators:
    """Read the operators of a query; the journal says which there were."""
    found = parse_operators(index, query)
    if not found.items and not found.filters:
        return found
    said: dict[str, list[str]] = {}
    for item in found.items:
        kind = "excluded" if item.is_excluded else "phrases" if item.is_phrase else "required"
        said.setdefault(kind, []).append(item.text)
    filters = {"filters": _collect(found)} if found.filters else {}
    journal.note("operators", **said, **filters)
    return found


def parse_operators(index: Index, query: str) -> Operators:
    """Return the operators of any query, for which the index decides what a filter is."""
    items: list[Item] = []
    filters: list[tuple[str, str]] = []
    kept, end = [""], 0
    for match in _ITEM.finditer(query):
        if len(items) + len(filters) == MAX_ITEMS:
            break
        text = match["phrase"] or match["word"] or ""
        is_excluded = (match["sign"] or match["mark"]) == "-"
        if match["field"]:
            pair = _read_filter(index, match["field"], match["quoted"] or match["value"])
            if pair is None:
                continue
            filters.append(pair)
        elif index.tokenizer.terms(text):
            items.append(Item(" ".join(text.split()), match["phrase"] is not None, is_excluded))
        else:
            continue
        kept += [query[end : match.start()], "" if is_excluded else text]
        end = match.end()
    rest = " ".join("".join([*kept, query[end:]]).split())
    if not (items or filters) or not index.tokenizer.terms(rest):
        return Operators(query)
    return Operators(rest, tuple(items), tuple(filters))


def _read_filter(index: Index, field: str, value: str) -> tuple[str, str] | None:
    """Return a filter that lets some chunk through, or None."""
    name = _SYNONYMS.get(field.casefold(), field)
    filters = index.part(FilterColumns)
    names = {known.casefold(): known for known in (*filters.columns, *KNOWN_FIELDS)}
    name = names.get(name.casefold(), "")
    try:
        passing = filters.select({name: value}) if name else None
    except InvalidRequestError:
        return None
    return (name, value) if passing is not None and passing.any() else None


def _collect(operators: Operators) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for name, value in operators.filters:
        values.setdefault(name, []).append(value)
    return values


@stage("operators")
def apply_operators(
    operators: Operators,
    index: Index,
    allowed: Mask | None,
    journal: Journal,
    *,
    phrase_chunks: int,
) -> Mask | None:
    """Return which chunks (n,) may be found, of those `allowed` (n,); None for all.

    A phrase is looked for in the text of the `phrase_chunks` best chunks that have all its words.
    """
    if not operators.items and not operators.filters:
        return allowed
    for passing in _passing(operators, index):
        allowed = passing if allowed is None else allowed & passing
    unread = 0
    # Words come before phrases, so that only chunks are read that may be found.
    for item in sorted(operators.items, key=lambda item: item.is_phrase):
        having = _having(index, item.text, None if item.is_excluded else allowed)
        if item.is_phrase:
            unread += _read_phrase(index, item.text, having, phrase_chunks)
        wanted = ~having if item.is_excluded else having
        allowed = wanted if allowed is None else allowed & wanted
    if unread:
        journal.note("operators", **journal.stages["operators"], unread=unread)
    return allowed


def _passing(operators: Operators, index: Index) -> Iterator[Mask]:
    """Yield the chunks (n,) that pass each filter."""
    for name, values in parse_filters(_collect(operators)).items():
        several = [[value] for value in values] if name.startswith("modified") else [[*values]]
        for each in several:
            passing = index.part(FilterColumns).select({name: each})
            assert passing is not None
            yield passing


def _having(index: Index, text: str, allowed: Mask | None) -> Mask:
    """Return which chunks (n,), of those allowed, have the words of a text."""
    having = allowed
    lane = index.keyword_lane
    terms = {term for token in index.tokenizer.tokenize(text) for term in whole_terms(token)}
    for term in sorted(terms, key=lambda term: (lane.frequency(term), term))[:MAX_TERMS]:
        with_term = _with_term(index, term)
        having = with_term if having is None else having & with_term
    assert having is not None
    return having


def _with_term(index: Index, term: str) -> Mask:
    """Return which chunks (n,) have a term."""
    hits = index.keyword_lane.search([term], 1)
    if hits.score_of is not None:  # Sorting all hits would cost far more than their scores.
        with_term: Mask = hits.score_of(np.arange(index.manifest.chunks)) > 0
        return with_term
    with_term = np.zeros(index.manifest.chunks, dtype=np.bool_)
    if len(hits):
        with_term[index.keyword_lane.search([term], index.chunk_count).chunks] = True
    return with_term


def _read_phrase(index: Index, phrase: str, having: Mask, most: int) -> int:
    """Leave in `having` (n,) the chunks whose text or headings have a phrase.

    Returns how many chunks were left out unread.
    """
    count = int(np.count_nonzero(having))
    if not count:
        return 0
    written = _as_written(phrase)
    chunks = index.keyword_lane.search(index.tokenizer.terms(phrase), most, having).chunks
    having[:] = False
    for number in chunks.tolist():
        chunk = index.chunk(number)
        text = "\n".join([*chunk.headings(), chunk.text])
        having[number] = written.search(unicodedata.normalize("NFKC", text).casefold()) is not None
    return count - len(chunks)


def _as_written(phrase: str) -> re.Pattern[str]:
    """Return a pattern for a phrase in normalised text; any marks may be between its words."""
    written = unicodedata.normalize("NFKC", phrase).casefold().split()
    # A lone mark is one of those between words.
    words = [w.strip(",.;:!?") for w in written if any(map(str.isalnum, w))]
    pattern = r"[\W_]+".join(map(re.escape, words))
    # Scripts without cases are written without spaces, or with particles before and after.
    before = r"(?<![^\W_])" if _is_bounded(words[0][0]) else ""
    after = r"(?![^\W_])" if _is_bounded(words[-1][-1]) else ""
    return re.compile(f"{before}{pattern}{after}")


def _is_bounded(character: str) -> bool:
    return character.isalnum() and unicodedata.category(character) != "Lo"
