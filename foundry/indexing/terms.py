"""Counts a document's index terms, chunk by chunk."""

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import PurePosixPath

import numpy as np

from foundry.config.search import DEFAULT_FIELDS
from foundry.records import Chunk, Document, is_code
from foundry.records.prepared import ChunkTerms, pack
from foundry.runtime.index.records import telling_title
from foundry.runtime.retrieval.tokens import (
    SURFACE_MARK,
    Token,
    Tokenizer,
    heading_term,
    surface_term,
)

NAMED = 2
"""The count of a heading term but for that of what stands before a dash or a colon in a heading."""

MAX_CHUNK_PLACES = 10
"""Places of copies that a chunk lists; its document lists all."""

MAX_PATH_PARTS = 4
"""Of a path by which it is found; by the whole of it, it is found as well."""

_ARTICLES = frozenset("ai")
_URL = re.compile(r"https?://[^/?#]*([^?#]*)")
# A number, as in an id such as `75.1725`, is no ending.
_ENDING = re.compile(r"(?<=[^/.])\.[A-Za-z]\w{0,15}$")
_QUALIFIER = re.compile(r"(?<=\S)\s+\([^()]*\)$")
_EXPLANATION = re.compile(
    r"(?<=[^\s:-])(?:\s+(?:-{1,3}|[\u2012\u2013])\s|\s*[\u2014\u2015]|(?<=\w)---?(?=[A-Z])|:\s)"
)


def count_terms(
    document: Document,
    chunks: Sequence[Chunk],
    tokenizer: Tokenizer,
    fields: Mapping[str, int] = DEFAULT_FIELDS,
) -> ChunkTerms:
    """Return the terms of a document's chunks; `fields` as in `IndexOptions`."""
    headings = chunk_headings(document, chunks)
    paths = {name for name in document_names(document) if name != document.title}
    # Chunks share most of their titles, headings and tags.
    field_terms = cache(tokenizer.terms)
    return make_chunk_terms(
        (_count(document, chunk, tokenizer, fields, field_terms) for chunk in chunks),
        [_count_headings(own, paths, tokenizer) for own in headings],
    )


def make_chunk_terms(
    counts: Iterable[Mapping[str, int]], heading_counts: Iterable[Mapping[str, int]]
) -> ChunkTerms:
    """Return chunks' terms as a matrix, from each chunk's counts and those of its headings."""
    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    offsets, numbers, frequencies, lengths = array("I", [0]), array("I"), array("I"), array("I")
    for counted, named in zip(counts, heading_counts, strict=True):
        added = dict(sorted((term, count) for term, count in named.items() if term not in counted))
        numbers.extend(map(vocabulary.__getitem__, chain(counted, added)))
        frequencies.extend(chain(counted.values(), added.values()))
        offsets.append(len(numbers))
        lengths.append(sum(counted.values()))
    return ChunkTerms(
        vocabulary=tuple(vocabulary),
        offsets=_pack(offsets),
        numbers=_pack(numbers),
        counts=_pack(frequencies),
        lengths=_pack(lengths),
    )


def _count_headings(
    headings: Iterable[str], paths: Container[str], tokenizer: Tokenizer
) -> dict[str, int]:
    """Return the heading terms of a chunk: 1 for what only begins a heading, `NAMED` for all else.

    Names of `paths` have none as written: what is headed `read` comes before `_read` in `read.md`.

    An identifier by which a chunk is found is one of its terms, so that the index has it.
    """
    counts: dict[str, int] = {}
    for heading in headings:
        beginning = _EXPLANATION.split(heading, 1)[0]
        if beginning != heading:
            counts = dict.fromkeys(heading_terms(tokenizer.tokenize(beginning)), 1) | counts
        for name in heading_names(heading):
            tokens = tokenizer.tokenize(name)
            named = heading_terms(tokens)
            if heading in paths:
                named = {term for term in named if not term.startswith(SURFACE_MARK)}
            counts |= dict.fromkeys(named, NAMED)
            counts |= {token.terms[0]: 1 for token in tokens if token.is_identifier and token.terms}
    return counts


def _pack(column: "array[int]") -> bytes:
    return pack(np.array(column, dtype=np.uint32))


def heading_names(heading: str) -> list[str]:
    """Return what a heading may be asked for by: as a whole, and each name that it gives.

    `strtol, wcstol (CRT)` gives `strtol, wcstol`, `strtol` and `wcstol`: a qualifier in brackets at
    the end says what kind of thing it is, and commas stand between names of one word.
    """
    name = _QUALIFIER.sub("", heading)
    parts = [part.strip() for part in name.split(",")]
    if len(parts) == 1 or any(not part or " " in part for part in parts):
        parts = []
    return list(dict.fromkeys((heading, name, *parts)))


def path_names(path: str) -> list[str]:
    """Return what a file, or the page at a url, may be asked for by: its path, and the end of it.

    `guide/training.html` gives `training.html`, `guide/training.html`, and both without the ending.
    """
    url = _URL.match(path)
    parts = [part for part in (url[1] if url else path).split("/") if part]
    counts = [*range(1, min(len(parts), MAX_PATH_PARTS + 1)), len(parts)]
    whole = ["/".join(parts[-count:]) for count in counts if parts]
    return list(dict.fromkeys((*whole, *(_ENDING.sub("", name) for name in whole))))


def document_names(document: Document) -> list[str]:
    """Return the names of a document's path, and of the first of those that its copies have."""
    places = document.also_at[:MAX_CHUNK_PLACES]
    paths = [document.path, *(place.path for place in places)]
    return list(dict.fromkeys(name for path in paths for name in path_names(path)))


def chunk_headings(document: Document, chunks: Sequence[Chunk]) -> list[tuple[str, ...]]:
    """Return the headings by which each of a document's chunks is to be found.

    Those that it is the first below: the first of all by the title, and the names of its path.
    """
    found: list[tuple[str, ...]] = []
    previous_path: tuple[str, ...] | None = None
    defined: set[tuple[str, ...]] = set()
    for place, chunk in enumerate(chunks):
        own = [document.title, *document_names(document)] if place == 0 else []
        path = chunk.heading_path
        if path and path != previous_path and path not in defined:
            own.append(path[-1])
            if is_code(document):
                own += qualified_names(document, path)
                defined.add(path)
        previous_path = path
        found.append(tuple(dict.fromkeys(own)))
    return found


def _count(
    document: Document,
    chunk: Chunk,
    tokenizer: Tokenizer,
    fields: Mapping[str, int],
    field_terms: Callable[[str], list[str]],
) -> Counter[str]:
    counts = Counter(tokenizer.terms(chunk.text))
    for name, weight in fields.items():
        for text in _field_texts(name, document, chunk) if weight else ():
            for term in field_terms(text):
                counts[term] += weight
    return counts


def _field_texts(name: str, document: Document, chunk: Chunk) -> Sequence[str]:
    if name == "title":
        return telling_title(document.title, document.id, chunk.heading_path)
    if name == "headings":
        return chunk.heading_path
    if name == "tags":
        return document.tags
    value = document.metadata.get(name.removeprefix("metadata."))
    return (value,) if value else ()


def heading_terms(tokens: Sequence[Token]) -> set[str]:
    """Return the heading terms under which a heading can be found.

    The whole of it; and each identifier in it, alone and with the numbers and acronyms beside it:
    `30 CFR 75.1725 Machinery` is found as such, as `30 CFR 75.1725` and as `75.1725`. A heading
    that is nothing but a name has one term more, and so comes before those that only hold the name.
    A letter that may be an article (`Level A compliance`) may be left out.
    """
    groups: list[Sequence[Token]] = [tokens]
    others = [token for token in tokens if token.text.casefold() not in _ARTICLES]
    groups += [others] if len(others) < len(tokens) else []
    run: list[Token] = []
    for token in (*tokens, None):
        if token is not None and (token.is_identifier or token.may_accompany):
            run.append(token)
            continue
        identifiers = [[member] for member in run if member.is_identifier]
        groups += [run, *identifiers] if identifiers else []
        run = []
    named = (surface_term(tokens), *map(heading_term, groups))
    return {term for term in named if term is not None}


_DOUBLE_COLON = frozenset(("code-cpp", "code-php", "code-ruby", "code-rust"))
"""Readers of the languages that write `Store::size` for `Store.size`."""


def qualified_names(document: Document, path: tuple[str, ...]) -> list[str]:
    """Return the names with more and more of those around it: `Store.size`, then `shop.Store.size`.

    The module is the file's name without its suffix.
    """
    names = (PurePosixPath(document.path).stem, *path)
    joint = "::" if document.reader.partition("/")[0] in _DOUBLE_COLON else "."
    return [joint.join(names[start:]) for start in range(len(names) - 2, -1, -1)]
