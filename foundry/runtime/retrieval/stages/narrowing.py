"""Applies the operators of a query: they restrict the chunks that its search may find."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...index.letters import normalise
from ...index.protocols import Mask
from ...index.reader import Index
from ...index.records import count_of
from ..filters import FilterColumns, parse_filters
from ..identifiers import letters_of
from ..journal import TEXT_UNITS, Journal
from ..timing import stage
from .operators import STAGE, Operators, collect, has_vectors, terms_of

Chunks: TypeAlias = NDArray[np.integer]


@stage(STAGE)
def apply_operators(
    allowed: Mask | None,
    operators: Operators,
    index: Index,
    journal: Journal,
    *,
    phrase_chunks: int,
) -> Mask | None:
    """Return which chunks (n,) may be found, among `allowed` (n,); None means all.

    A phrase is looked for in the text of the `phrase_chunks` best chunks that contain all its
    words.
    """
    if not (operators.items or operators.filters or operators.excluded):
        return allowed
    for passing, is_excluded in _passing(operators, index):
        passing = ~passing if is_excluded else passing
        allowed = passing if allowed is None else allowed & passing
    # The array is copied, because the loop below removes chunks from it.
    allowed = np.ones(index.chunk_count, dtype=np.bool_) if allowed is None else allowed.copy()
    unread = 0
    # Words come before phrases, so that only chunks that may be found are read.
    for item in sorted(dict.fromkeys(operators.items), key=lambda item: item.is_phrase):
        terms = terms_of(index, item)
        chunks = _having(index, terms, allowed) if terms else np.flatnonzero(allowed)
        if item.is_phrase or not terms:
            count = len(chunks)
            if terms:
                chunks = _choose(index, item.text, chunks, phrase_chunks)
            else:
                chunks = _likeliest(index, operators.text, allowed, phrase_chunks)
            read = [*takewhile(lambda _: journal.spend(STAGE, TEXT_UNITS), chunks.tolist())]
            unread += count - len(read)
            chunks = _read_phrase(index, item.text, read)
        if item.is_excluded:
            allowed[chunks] = False
        else:
            required = np.zeros_like(allowed)
            required[chunks] = True
            allowed = required
    if unread:
        passages = count_of(unread, "passage")
        sentence = f"Did not look for a phrase in {passages} with its words."
        journal.note(STAGE, *journal.told[STAGE], sentence, **journal.stages[STAGE], unread=unread)
    return allowed


def _passing(operators: Operators, index: Index) -> Iterator[tuple[Mask, bool]]:
    """Yield the chunks (n,) that pass each filter, and whether the filter excludes them."""
    for pairs, is_excluded in ((operators.filters, False), (operators.excluded, True)):
        for name, values in parse_filters(collect(pairs)).items():
            is_one = name.startswith("modified") or is_excluded
            for each in [[value] for value in values] if is_one else [[*values]]:
                passing = index.part(FilterColumns.open).select({name: each})
                assert passing is not None
                yield passing, is_excluded


def _having(index: Index, terms: Sequence[str], allowed: Mask) -> Chunks:
    """Return the allowed chunks (m,) that contain all terms, which are given rarest first."""
    rarest, *others = terms
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
    """Return at most `most` of the chunks (m,): those that match the words of a phrase best."""
    if len(chunks) <= most:
        return chunks
    allowed = np.zeros(index.chunk_count, dtype=np.bool_)
    allowed[chunks] = True
    return index.keyword_lane.search(index.tokenizer.terms(phrase), most, allowed).chunks


def _likeliest(index: Index, text: str, allowed: Mask, most: int) -> Chunks:
    """Return the allowed chunks (m,) to read for words that are not terms, best first."""
    terms, vector = index.tokenizer.terms(text), None
    found = [*index.keyword_lane.search(terms, most, allowed).chunks.tolist()] if terms else []
    if len(found) < most and has_vectors(index):
        vector = index.encoder.encode(text)
    if vector is not None:
        found += index.dense_lane.search(vector, most, allowed).chunks.tolist()
    found += np.flatnonzero(allowed)[:most].tolist()
    return np.array([*dict.fromkeys(found)][:most], dtype=np.int64)


def _read_phrase(index: Index, phrase: str, chunks: Sequence[int]) -> Chunks:
    """Return the chunks whose text or headings contain a phrase."""
    letters, written = letters_of(normalise(phrase).casefold()), None
    found = []
    for number, chunk in zip(chunks, index.chunks(chunks), strict=True):
        text = "\n".join([*chunk.headings(), chunk.text])
        folded = normalise(text).casefold()
        if letters in letters_of(folded):
            # Compiling a pattern takes as long as reading several chunks.
            written = written or _as_written(phrase)
            found += [number] if written.search(folded) else []
    return np.array(found, dtype=np.int64)


def _as_written(phrase: str) -> re.Pattern[str]:
    """Return a pattern for a phrase in normalised text, with any punctuation between words."""
    written = normalise(phrase).casefold().split()
    # Punctuation that stands alone is matched by the pattern between words.
    words = [w.strip(",.;:!?") for w in written if any(map(str.isalnum, w))]
    pattern = r"[\W_]+".join(map(re.escape, words))
    # In scripts without case, words have no spaces between them, or particles attached to them.
    after = r"(?![^\W_])" if _is_bounded(words[-1][-1]) else ""
    if not _is_bounded(words[0][0]):
        return re.compile(f"{pattern}{after}")
    # The lookbehind comes after the first word, not before it: a pattern that begins with letters
    # takes a fifteenth of the time.
    first = re.escape(words[0])
    return re.compile(f"{first}(?<![^\\W_]{first}){pattern.removeprefix(first)}{after}")


def _is_bounded(character: str) -> bool:
    return character.isalnum() and unicodedata.category(character) not in {"Lo", "Lm"}
