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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidRequestError
from ...index.protocols import Mask
from ...index.reader import Index
from ...index.records import count_of
from ..candidates import stage
from ..filters import KNOWN_FIELDS, FilterColumns, parse_filters
from ..identifiers import letters_of, whole_terms
from ..journal import TEXT_UNITS, Journal, describe_filters, quote

STAGE = "operators"
# Of a word, a phrase (for which a pattern is compiled) and a filter, in any index.
WORD_UNITS, PHRASE_UNITS, FILTER_UNITS = 2_000, 6_000, 2_000
CHUNKS_OF_UNIT = 20  # For each so many chunks, to mark those that pass takes a unit.
MAX_ITEMS = 16  # What follows them in a query is plain text.
MAX_TERMS = 16  # The rarest terms of a phrase, by which chunks are found that may have it.

_ITEM = re.compile(
    r"(?<!\S)(?:"
    r"(?P<sign>[-+]?)[\"\u201c\u201e](?P<phrase>[^\"\u201c-\u201e]+)[\"\u201c\u201d]"
    r"|(?P<mark>[-+])(?P<word>[^\W\d_][\w:.'\u2019&#+-]*[\w#+])"
    r"|(?P<field>[^\W\d]\w*):(?:\"(?P<quoted>[^\"]+)\"|(?P<value>[^\s\"]*[^\s\".,;:!?)\]]))"
    r")(?=[.,;:!?)\]]*(?!\S))"
)
Chunks: TypeAlias = NDArray[np.integer]

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


@stage(STAGE)
def read_operators(index: Index, query: str, journal: Journal) -> tuple[str, Operators]:
    """Return a query without its operators, and these; the journal says which there were."""
    found = parse_operators(index, query, journal)
    if not found.items and not found.filters:
        return found.text, found
    said: dict[str, list[str]] = {}
    for item in found.items:
        kind = "excluded" if item.is_excluded else "phrases" if item.is_phrase else "required"
        said.setdefault(kind, []).append(item.text)
    filters = {"filters": _collect(found)} if found.filters else {}
    wanted = [*said.get("phrases", ()), *said.get("required", ())]
    told = [f"Only what has {quote(wanted)}."] if wanted else []
    told += [f"Nothing that has {quote(said['excluded'])}."] if "excluded" in said else []
    told += [f"Only {describe_filters(_collect(found))}."] if found.filters else []
    journal.note(STAGE, *told, **said, **filters)
    return found.text, found


def parse_operators(index: Index, query: str, journal: Journal) -> Operators:
    """Return the operators of any query, for which the index decides what a filter is.

    What follows the last one that the budget of the query covers is plain text.
    """
    items: list[Item] = []
    filters: list[tuple[str, str]] = []
    kept, end = [""], 0
    for match in _ITEM.finditer(query):
        if len(items) + len(filters) == MAX_ITEMS:
            break
        text = match["phrase"] or match["word"] or ""
        is_excluded = (match["sign"] or match["mark"]) == "-"
        if match["field"]:
            if not journal.spend(STAGE, FILTER_UNITS + index.chunk_count // CHUNKS_OF_UNIT):
                break
            pair = _read_filter(index, match["field"], match["quoted"] or match["value"])
            if pair is None:
                continue
            filters.append(pair)
        elif index.tokenizer.terms(text):
            item = Item(" ".join(text.split()), match["phrase"] is not None, is_excluded)
            if not journal.spend(STAGE, _cost(index, item)):
                break
            items.append(item)
        else:
            continue
        kept += [query[end : match.start()], "" if is_excluded else text]
        end = match.end()
    rest = " ".join("".join([*kept, query[end:]]).split())
    # Only the beginning of it is searched for.
    searched = index.tokenizer.tokenize_query(rest)[1] if items or filters else []
    if not any(token.terms for token in searched):
        return Operators(query)
    return Operators(rest, tuple(items), tuple(filters))


def _read_filter(index: Index, field: str, value: str) -> tuple[str, str] | None:
    """Return a filter that lets some chunk through, or None."""
    name = _SYNONYMS.get(field.casefold(), field)
    filters = index.part(FilterColumns.open)
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


@stage(STAGE)
def apply_operators(
    allowed: Mask | None,
    operators: Operators,
    index: Index,
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
    # Its own copy, from which items take chunks out.
    allowed = np.ones(index.chunk_count, dtype=np.bool_) if allowed is None else allowed.copy()
    unread = 0
    # Words come before phrases, so that only chunks are read that may be found.
    for item in sorted(dict.fromkeys(operators.items), key=lambda item: item.is_phrase):
        chunks = _having(index, item.text, allowed)
        if item.is_phrase:
            count = len(chunks)
            chunks = _choose(index, item.text, chunks, phrase_chunks)
            unread += count - len(chunks)
            read = [*takewhile(lambda _: journal.spend(STAGE, TEXT_UNITS), chunks.tolist())]
            unread += len(chunks) - len(read)
            chunks = _read_phrase(index, item.text, read)
        if item.is_excluded:
            allowed[chunks] = False
        else:
            required = np.zeros_like(allowed)
            required[chunks] = True
            allowed = required
    if unread:
        passages = count_of(unread, "passage")
        sentence = f"{passages} with the words of a phrase were not read for it."
        journal.note(STAGE, *journal.told[STAGE], sentence, **journal.stages[STAGE], unread=unread)
    return allowed


def _passing(operators: Operators, index: Index) -> Iterator[Mask]:
    """Yield the chunks (n,) that pass each filter."""
    for name, values in parse_filters(_collect(operators)).items():
        several = [[value] for value in values] if name.startswith("modified") else [[*values]]
        for each in several:
            passing = index.part(FilterColumns.open).select({name: each})
            assert passing is not None
            yield passing


def _terms(index: Index, text: str) -> list[str]:
    """Return the terms that find chunks with a text, the rarest first."""
    frequency = index.keyword_lane.frequency
    terms = {term for token in index.tokenizer.tokenize(text) for term in whole_terms(token)}
    return sorted(terms, key=lambda term: (frequency(term), term))[:MAX_TERMS]


def _cost(index: Index, item: Item) -> int:
    """Return the units that it takes to find the chunks that have the words of an item."""
    frequency = index.keyword_lane.frequency
    rarest, *others = _terms(index, item.text)
    # The best ones are chosen of those that have all words of a phrase.
    chosen = sum(map(frequency, index.tokenizer.terms(item.text))) if item.is_phrase else 0
    marked = index.chunk_count // CHUNKS_OF_UNIT
    least = PHRASE_UNITS if item.is_phrase else WORD_UNITS
    return least + marked + frequency(rarest) * (1 + len(others)) + chosen


def _having(index: Index, text: str, allowed: Mask) -> Chunks:
    """Return the chunks (m,), of those allowed, that have the words of a text."""
    rarest, *others = _terms(index, text)
    chunks = index.keyword_lane.having(rarest)
    chunks = chunks[allowed[chunks]]
    for term in others:
        with_term = index.keyword_lane.having(term)
        places = np.searchsorted(with_term, chunks)
        chunks = (
            chunks[with_term.take(places, mode="clip") == chunks] if len(with_term) else with_term
        )
    return chunks


def _choose(index: Index, phrase: str, chunks: Chunks, most: int) -> Chunks:
    """Return the chunks (m,), ascending, or the `most` best of them for the words of a phrase."""
    if len(chunks) <= most:
        return chunks
    allowed = np.zeros(index.chunk_count, dtype=np.bool_)
    allowed[chunks] = True
    return index.keyword_lane.search(index.tokenizer.terms(phrase), most, allowed).chunks


def _read_phrase(index: Index, phrase: str, chunks: Sequence[int]) -> Chunks:
    """Return the chunks whose text or headings have a phrase."""
    letters, written = letters_of(unicodedata.normalize("NFKC", phrase).casefold()), None
    found = []
    for number, chunk in zip(chunks, index.chunks(chunks), strict=True):
        text = "\n".join([*chunk.headings(), chunk.text])
        folded = unicodedata.normalize("NFKC", text).casefold()
        if letters in letters_of(folded):
            # To compile a pattern takes as long as to read several chunks.
            written = written or _as_written(phrase)
            found += [number] if written.search(folded) else []
    return np.array(found, dtype=np.int64)


def _as_written(phrase: str) -> re.Pattern[str]:
    """Return a pattern for a phrase in normalised text; any marks may be between its words."""
    written = unicodedata.normalize("NFKC", phrase).casefold().split()
    # A lone mark is one of those between words.
    words = [w.strip(",.;:!?") for w in written if any(map(str.isalnum, w))]
    pattern = r"[\W_]+".join(map(re.escape, words))
    # Scripts without cases are written without spaces, or with particles before and after.
    after = r"(?![^\W_])" if _is_bounded(words[-1][-1]) else ""
    if not _is_bounded(words[0][0]):
        return re.compile(f"{pattern}{after}")
    # What comes before is looked at from behind the first word: a pattern that begins with letters
    # takes a fifteenth of the time.
    first = re.escape(words[0])
    return re.compile(f"{first}(?<![^\\W_]{first}){pattern.removeprefix(first)}{after}")


def _is_bounded(character: str) -> bool:
    return character.isalnum() and unicodedata.category(character) not in {"Lo", "Lm"}
