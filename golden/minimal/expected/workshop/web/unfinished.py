"""Searches while the user types: the last word of a query may be unfinished.

That word is completed with up to three identifiers that are headings, or else with the most
frequent term that begins with it. Terms are stems, so endings are completed too: `configurat`
becomes `configuration`, although `configur` is the term.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..index.heading_terms import SURFACE_MARK
from ..index.layout import Vocabulary, open_array
from ..index.letters import bare, normalise
from ..index.reader import Index, OpenedIndex, current_index, served
from ..retrieval.results import SearchResponse

MIN_TYPED, MAX_TYPED = 2, 60  # Length of a word that is completed
MAX_NAMES, MAX_LOOKED_UP = 3, 8
ENDINGS = (
    "ational ization ation ability ment ness able ible ance ence ally ing ion ity ive al ed er ly"
).split()

_LAST, _LAST_PART = re.compile(r"\w\S*\w\Z"), re.compile(r"\w+\Z")


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of an index, sorted, with the offsets of their postings."""

    vocabulary: Vocabulary
    offsets: NDArray[np.uint64]

    @classmethod
    def open(cls, index: OpenedIndex) -> "Terms":
        """Memory-map the terms of an index. Raises IndexUnusableError."""
        layout, count = index.layout, index.manifest.terms
        return cls(
            Vocabulary.open(layout.terms, layout.term_offsets, count),
            open_array(layout.posting_offsets, np.uint64, (count + 1,)),
        )

    def beginning_with(self, prefix: str) -> Iterator[str]:
        """Yield the MAX_LOOKED_UP most frequent terms with a prefix, most frequent first."""
        first, end = self.vocabulary.range_of(prefix)
        # Signed, so that negating them sorts the most frequent first.
        counts = np.diff(self.offsets[first : end + 1].astype(np.int64))
        for number in np.argsort(-counts, kind="stable")[:MAX_LOOKED_UP].tolist():
            yield self.vocabulary[first + number].decode("utf-8", "replace")


def completing(search: Callable[..., SearchResponse]) -> Callable[..., SearchResponse]:
    """Wrap a search so that it accepts `prefix`: whether the last word may be unfinished."""

    @wraps(search)
    def complete(
        query: str, *arguments: Any, prefix: bool = False, **options: Any
    ) -> SearchResponse:
        if not prefix:
            return search(query, *arguments, **options)
        completed = complete_query(served.whole().part(Terms.open), current_index(), query)
        found = search(completed, *arguments, **options)
        return replace(found, query=query, searched=completed)

    return complete


def complete_query(terms: Terms, index: Index, query: str) -> str:
    """Return the query with its last word completed, unless the caller's index has that word."""
    begin = max(0, len(query) - MAX_TYPED - 1)
    for match in filter(None, (pattern.search(query, begin) for pattern in (_LAST, _LAST_PART))):
        tokens = index.tokenizer.tokenize(match[0])
        if len(tokens) == 1 and tokens[0].terms and MIN_TYPED <= len(match[0]) <= MAX_TYPED:
            if index.keyword_lane.frequency(tokens[0].terms[0]):
                continue
            if found := _complete(terms, index, match[0]):
                return query[: match.start()] + found
    return query


def _complete(terms: Terms, index: Index, typed: str) -> str | None:
    known, tokenizer = index.keyword_lane.frequency, index.tokenizer
    named = filter(known, terms.beginning_with(SURFACE_MARK + typed))
    names = [name.removeprefix(SURFACE_MARK) for name in named]
    names = [name for name in names if tokenizer.token(name).is_identifier]
    if names:
        return " ".join(names[:MAX_NAMES])
    folded = bare(normalise(typed).casefold().replace("-", "").replace("_", ""))
    for term in filter(known, terms.beginning_with(folded)):
        if tokenizer.terms(term)[:1] == [term]:  # The tokenizer may split it into other terms.
            return term
    words = (folded + rest for rest in _rests(folded)) if folded.isalpha() else ()
    return next((word for word in words if any(map(known, tokenizer.terms(word)))), None)


def _rests(typed: str) -> Iterator[str]:
    """Yield the missing letters of each ending that the typed text may have begun."""
    for ending in ENDINGS:
        for size in range(len(ending) - 1, 0, -1):
            if typed.endswith(ending[:size]):
                yield ending[size:]
