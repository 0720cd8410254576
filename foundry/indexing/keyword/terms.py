"""Counts the index terms of a document by chunk."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from foundry.config.search import DEFAULT_FIELDS
from foundry.documents import Chunk, Document, is_data
from foundry.documents.prepared import ChunkTerms, pack
from foundry.indexing.keyword.names import ChunkNames, Namer
from foundry.runtime.index.heading_terms import HEADING_MARK, NAMED, SURFACE_MARK
from foundry.runtime.index.records import informative_title
from foundry.runtime.index.tokens import Tokenizer

TITLED, SPELT = 2 * NAMED, 3 * NAMED
"""Counts of the heading terms of a title, and of a name's exact spelling.

For the query `FileUpload`, a chunk below this heading ranks before a page with the title
`file_upload`.
"""

PART_NAMED = 3 * NAMED // 4
"""Count of the heading terms for parts of names."""


class TermCounter:
    """Counts the terms of documents; `fields` is as in `IndexOptions`."""

    def __init__(self, tokenizer: Tokenizer, fields: Mapping[str, int] = DEFAULT_FIELDS) -> None:
        self._tokenizer = tokenizer
        self._fields = fields
        self.namer = Namer(tokenizer)

    def count(self, document: Document, chunks: Sequence[Chunk], names: ChunkNames) -> ChunkTerms:
        """Return the terms of a document's chunks, which have the given names."""
        # Most chunks have titles, headings and tags in common, so their terms are cached.
        field_terms = cache(self._tokenizer.terms)
        return make_chunk_terms(
            [self._terms(document, chunk, field_terms) for chunk in chunks],
            [self._count_names(names, place) for place in range(len(chunks))],
        )

    def _terms(
        self, document: Document, chunk: Chunk, field_terms: Callable[[str], list[str]]
    ) -> list[str]:
        """Return the terms of a chunk; terms of fields are repeated according to their weight."""
        terms = self._tokenizer.terms(chunk.text)
        for field, weight in self._fields.items():
            if field == "headings" and is_data(document):
                # The headings of data files are keys that recur in many files, so they say little
                # about the content.
                weight = min(weight, 1)
            for text in _field_texts(field, document, chunk) if weight else ():
                terms += field_terms(text) * weight
        return terms

    def _count_names(self, names: ChunkNames, place: int) -> dict[str, int]:
        """Return the terms of a chunk's names, with their counts.

        Names from the document's path have no term for their exact spelling: the heading `read`
        ranks before `_read` in `read.md`.
        """
        counts: defaultdict[str, int] = defaultdict(int)
        for name in names.defined[place]:
            if (term := self.namer.terms_of(name).whole) is not None:
                counts[term] = NAMED
        for name in names.by_chunk[place]:
            found = self.namer.terms_of(name)
            if name in names.of_path:
                found = found.without_spelling()
            whole = TITLED if place == 0 and name in names.titles else NAMED
            for terms, count, spelt in (
                (found.named, whole, SPELT),
                (found.others, PART_NAMED, PART_NAMED),
            ):
                for term in terms:
                    own = spelt if term.startswith(SURFACE_MARK) else count
                    counts[term] = max(counts[term], own if term.startswith(HEADING_MARK) else 1)
        return counts


def make_chunk_terms(
    terms: Sequence[Sequence[str]], names: Sequence[Mapping[str, int]]
) -> ChunkTerms:
    """Return how often each chunk has each term, from the terms of its text and of its names.

    A term of a name gets the count in `names` only if the text does not contain it.
    """
    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    places, lengths = _place(terms, vocabulary)
    named_places, named_lengths = _place(names, vocabulary)
    # Chunk and term are combined into one number, so that all pairs are counted together.
    starts = np.arange(len(terms) + 1) * len(vocabulary)
    keys, counts = np.unique(np.repeat(starts[:-1], lengths) + places, return_counts=True)
    named = np.repeat(starts[:-1], named_lengths) + named_places
    named_counts = np.fromiter(chain.from_iterable(each.values() for each in names), np.int64)
    is_added = np.append(keys, -1)[np.searchsorted(keys, named)] != named
    keys, counts = np.append(keys, named[is_added]), np.append(counts, named_counts[is_added])
    order = np.argsort(keys)
    keys, counts = keys[order], counts[order]
    return ChunkTerms(
        vocabulary=tuple(vocabulary),
        offsets=_pack(np.searchsorted(keys, starts)),
        numbers=_pack(keys % max(1, len(vocabulary))),
        counts=_pack(counts),
        lengths=_pack(lengths),
    )


def _place(
    terms: Sequence[Collection[str]], vocabulary: Mapping[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the vocabulary positions of all terms, and the number of terms per chunk.

    New terms are added to the vocabulary.
    """
    places = map(vocabulary.__getitem__, chain.from_iterable(terms))
    return np.fromiter(places, dtype=np.int64), np.array([*map(len, terms)], dtype=np.int64)


def _pack(column: NDArray[np.int64]) -> bytes:
    return pack(column.astype(np.uint32))


def _field_texts(name: str, document: Document, chunk: Chunk) -> Sequence[str]:
    if name == "title":
        return informative_title(document.title, document.id, chunk.heading_path)
    if name == "headings":
        return chunk.heading_path
    if name == "tags":
        return document.tags
    value = document.metadata.get(name.removeprefix("metadata."))
    return (value,) if value else ()
