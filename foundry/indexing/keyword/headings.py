"""Collects the headings of an index, each with its chunk and its quality as a query.

Headings calibrate the dense lane. Headings with only one chunk become known items: queries with one
right answer, which verify an index and are suggested on the start page.
"""

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from foundry.documents.prepared import ChunkTerms, HeadingRows, NamedHeading, unpack
from foundry.indexing.carried.carried import Carried
from foundry.indexing.files import offsets_of
from foundry.indexing.keyword.names import ChunkNames, Namer
from foundry.indexing.keyword.vocabulary import NO_TERM

KNOWN_ITEMS = 5
MAX_KNOWN_ITEM_LENGTH = 200
SAMPLES = 64

_BOILERPLATE = frozenset(
    (
        *("authors", "changelog", "code of conduct", "contents", "contributing", "copyright"),
        *("index", "license", "licence", "notice", "readme", "release notes", "table of contents"),
    )
)
_NUMBERED = re.compile(r"^\W*(?:\d+[.)]\s*)+")
_ENDING = re.compile(r"\.(?:md|mdx|txt|rst|html)$")
# Names of modules, functions, files and options: `a.b`, `a_b`, `a/b`, `f()`, `--name`, `FooBar`.
_OF_A_PROGRAM = re.compile(
    r"[^\W\d][.:/\\]+[^\W\d]|[^\W\d]_|_[^\W\d]|[()\[\]{}<>=`$@|]|(?:^|\s)--?\w|[a-z][A-Z]\w|[A-Z]{2}[a-z]{2}"
)
# Characters of scripts without spaces.
_SPACELESS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]{3}")

Item = TypeVar("Item")


class Kind(IntEnum):
    """Quality of a heading as a query; higher is better."""

    UNWANTED = 0
    OF_A_PROGRAM = 1
    WORD = 2
    PHRASE = 3


class HeadingsBuilder:
    """Collects the headings of documents."""

    def __init__(self, carried: Carried) -> None:
        # Columns: hash, chunk within the document, number of the heading term, kind.
        self._headings = carried.table("headings", "QIII", has_texts=True)

    def add(self, documents: Sequence[HeadingRows], numbers: Sequence[NDArray[np.uint32]]) -> None:
        """Add the headings of the next documents, with the term numbers of their vocabularies."""
        counts = [len(headings.chunks) // 4 for headings in documents]
        joined = HeadingRows(*map(b"".join, zip(*documents, strict=True)))
        starts = np.repeat(offsets_of([*map(len, numbers)])[:-1].astype(np.int64), counts)
        own = unpack(joined.terms, np.uint32)
        known = np.append(np.concatenate(numbers), np.uint32(NO_TERM))
        terms = known[np.where(own == NO_TERM, -1, own + starts)].tobytes()
        self._headings.add_many(counts, joined.hashes, joined.chunks, terms, joined.kinds)
        assert self._headings.texts is not None
        self._headings.texts.add_many(joined.lengths, joined.texts)

    def samples(self) -> list[str]:
        """Return an evenly spread sample of the distinct headings."""
        texts = self._headings.stored_texts()
        return [
            texts.bytes(entry).decode("utf-8", "surrogatepass")
            for entry in _spread(self._first_entries().tolist(), SAMPLES)
        ]

    def known_items(self, frequencies: NDArray[np.int64]) -> list[tuple[str, int, int]]:
        """Return headings that only one chunk has, each with the numbers of its document and chunk.

        The chunk's number is its position in the document.

        `frequencies` (v,) is the document frequency of each term, counted in chunks. Only headings
        of the best kind among them are returned, at most KNOWN_ITEMS, evenly spread.
        """
        rows, texts = self._headings.stored(), self._headings.stored_texts()
        _, chunks, terms, kinds = rows.columns
        bearing = np.append(frequencies, 0)[np.minimum(terms, len(frequencies))]
        first = self._first_entries()
        found = first[(bearing[first] == 1) & (kinds[first] > Kind.UNWANTED)]
        best = found[kinds[found] == kinds[found].max(initial=0)]
        entries = _spread(best.tolist(), KNOWN_ITEMS)
        documents = np.searchsorted(rows.offsets, entries, side="right") - 1
        return [
            (texts.bytes(entry).decode("utf-8", "surrogatepass"), document, int(chunks[entry]))
            for entry, document in zip(entries, documents.tolist(), strict=True)
        ]

    def number_by_rank(self, ranks: NDArray[np.uint32]) -> None:
        """Renumber the terms kept for the next build by their ranks (v,) in the vocabulary."""
        terms = self._headings.stored().columns[2]
        ranked = np.append(ranks, NO_TERM)[np.minimum(terms, len(ranks))]
        self._headings.replace(2, ranked.astype(np.uint32))

    def _first_entries(self) -> NDArray[np.int64]:
        """Return the positions at which the distinct headings first occur."""
        _, first = np.unique(self._headings.stored().columns[0], return_index=True)
        return np.sort(first)


def find_headings(names: ChunkNames, terms: ChunkTerms, namer: Namer) -> tuple[NamedHeading, ...]:
    """Return the distinct headings of a document, given the names and terms of its chunks.

    Headings are all of these names except those from the document's path.
    """
    first: dict[str, int] = {}
    for place, own in enumerate(names.by_chunk):
        for name in own:
            if name not in names.of_path:
                first.setdefault(name, place)
    places = {term: place for place, term in enumerate(terms.vocabulary)}
    return tuple(
        NamedHeading(
            heading, place, places.get(namer.terms_of(heading).whole or "", -1), _kind_of(heading)
        )
        for heading, place in first.items()
    )


def _kind_of(heading: str) -> int:
    return Kind.UNWANTED if len(heading) > MAX_KNOWN_ITEM_LENGTH else kind_of(heading)


def kind_of(heading: str) -> Kind:
    """Return the quality of a heading as a query.

    Several words rank before single words, both before names in programs; boilerplate is not used.
    """
    if _is_boilerplate(heading):
        return Kind.UNWANTED
    if _OF_A_PROGRAM.search(heading):
        return Kind.OF_A_PROGRAM
    return Kind.PHRASE if _is_phrase(heading) else Kind.WORD


def _is_boilerplate(heading: str) -> bool:
    words = _NUMBERED.sub("", heading).strip().casefold()
    return _ENDING.sub("", words) in _BOILERPLATE


def _is_phrase(heading: str) -> bool:
    words = [word for word in heading.split() if any(map(str.isalpha, word))]
    return (len(words) > 1 and not heading.isupper()) or bool(_SPACELESS.search(heading))


def _spread(values: Sequence[Item], count: int) -> Sequence[Item]:
    """Return up to `count` of `values`, evenly spread."""
    step = max(1, len(values) // count)
    return values[::step][:count]
