"""The names by which queries find a chunk: headings, and title, aliases and path of its document.

Each name has heading terms; a query for the name contains one of them.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple, Self

from foundry.documents import Chunk, Document, is_code, is_data
from foundry.indexing.keyword.definitions import defined_names
from foundry.runtime.index.heading_terms import SURFACE_MARK, heading_term, surface_term
from foundry.runtime.index.remembering import remember
from foundry.runtime.index.tokens import Token, Tokenizer

REMEMBERED_NAMES = 16_384
"""Number of cached names; the cache is effective because similar documents share headings."""

MAX_NAMED_COPIES = 10
"""Maximum number of a document's copies whose paths count as its names too."""

MAX_PATH_PARTS = 4
"""Maximum number of trailing path parts in a name; the whole path is a name too."""

_ARTICLES = frozenset("ai")
_URL = re.compile(r"https?://[^/?#]*([^?#]*)")
# A number is not a suffix, as in the id `75.1725`.
_ENDING = re.compile(r"(?<=[^/.])\.[A-Za-z]\w{0,15}$")
_QUALIFIER = re.compile(r"(?<=\S)\s+\([^()]*\)$")
_DIVISIONS = frozenset(
    "abschnitt anexo anhang anlage annex annexe appendix art article artikel artículo capítulo"
    " chapitre chapter kapitel part parte partie rule schedule schritt sec section sección step"
    " teil étape".split()
)
_NUMBER = re.compile(
    rf"\W*(?P<division>(?i:{'|'.join(sorted(_DIVISIONS))})\.?\s+)?"
    r"(?:\d[\w.()-]*|(?(division)(?:[IVXLC]+|[A-Z])))(?<![-(])(?![^\s.:)])[.:)]?\s+(?=\w)"
)
_EXPLANATION = re.compile(
    r"(?<=[^\s:-])(?:\s+(?:-{1,3}|[\u2012\u2013])\s|\s*[\u2014\u2015]|(?<=\w)---?(?=[A-Z])|:\s)"
)


class NamedTerms(NamedTuple):
    """The terms of a name; `named` and `others` are sorted, so equal names have equal terms.

    `whole` is the heading term of the whole name, if it has one. `named` are the heading terms by
    which queries find it. `others` are the terms of its parts and its identifiers; they are added
    to the chunk, so that the index has them.
    """

    whole: str | None
    named: tuple[str, ...]
    others: tuple[str, ...]

    def without_spelling(self) -> Self:
        """Return the terms without the term for the exact spelling."""
        named = tuple(term for term in self.named if not term.startswith(SURFACE_MARK))
        return self._replace(named=named)


class Namer:
    """Finds the terms of names, with a cache."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.terms_of = remember(self._find, REMEMBERED_NAMES)

    def _find(self, name: str) -> NamedTerms:
        named, others = set[str](), set[str]()
        tokens = self._tokenizer.tokenize(name)
        whole = heading_term(tokens)
        for part in heading_parts(name):
            others.update(*heading_terms(self._tokenizer.tokenize(part)))
        for each in heading_names(name):
            if each != name:
                tokens = self._tokenizer.tokenize(each)
            own, inside = heading_terms(tokens)
            named |= own
            others |= inside
            others |= {token.terms[0] for token in tokens if token.is_identifier and token.terms}
        return NamedTerms(whole, tuple(sorted(named)), tuple(sorted(others)))


# A signature: keywords and a name, then arguments in brackets, a type or a value.
_SIGNATURE = re.compile(
    r"(?:[\w<>\[\]:,.*&]{1,40}+[ ]+[*&]*){0,4}(?P<name>[A-Za-z_~][\w.:]*[\w])"
    r"(?:\(.*\)|(?=:[ ]|[ ]=[ ]))"
    r"(?:\s*(?:->|\u2192|:|=|const\b|noexcept\b|throws\b).*)?"
)
# An attribute of a class, but not a file or project name such as `Node.js`.
_MEMBER = re.compile(r"[A-Z]\w*\.(?P<name>[a-z_]\w{3,})")
_OPTION = re.compile(r"(?:^|,\s+|\s\|\s)(?P<option>-{1,2}[\w?][\w.-]*)")


def heading_names(heading: str) -> list[str]:
    """Return the names that a heading stands for: itself, and the names in it.

    `strtol, wcstol (CRT)` also returns `strtol, wcstol`, `strtol` and `wcstol`: a final qualifier
    in brackets is not part of the name, and commas separate single-word names. A signature,
    `Cursor.execute(query) -> Cursor`, also returns `Cursor.execute` and `execute`; command-line
    options, `-f FILE, --file FILE`, also return `-f` and `--file`.
    """
    if (signature := _SIGNATURE.fullmatch(heading)) is not None:
        name = signature["name"]
        names = heading, name, re.split(r"\.|::", name)[-1]
        # Brackets alone do not introduce another name, and words before a colon are not a
        # signature.
        if "(" in heading or re.search(r"[._]|[a-z][A-Z]", name):
            return list(dict.fromkeys(each for each in names if f"{each}()" != heading))
    if (member := _MEMBER.fullmatch(heading)) is not None:
        return [heading, member["name"]]
    if heading.startswith("-"):
        options = (match["option"] for match in _OPTION.finditer(heading))
        return list(dict.fromkeys((heading, *options)))
    name = _QUALIFIER.sub("", heading)
    parts = [part.strip() for part in name.split(",")]
    if len(parts) == 1 or any(not part or " " in part for part in parts):
        parts = []
    return list(dict.fromkeys((heading, name, *parts)))


def heading_parts(heading: str) -> Iterator[str]:
    """Yield shorter names of a heading.

    For `Article 17 Right to erasure: notes`, these are `Article 17 Right to erasure`, `Article 17`
    and `Right to erasure`; for `3.2 Tools`, `Tools`.
    """
    beginning = _EXPLANATION.split(heading, 1)[0]
    if beginning != heading:
        yield beginning
    if (number := _NUMBER.match(beginning)) is not None:
        yield beginning[number.end() :]
        if number["division"]:
            yield number[0]


def path_names(path: str) -> list[str]:
    """Return the names of a file or page that its path contains: the path, and its last parts.

    For `guide/training.html`, these are `training.html` and `guide/training.html`, each with and
    without its suffix.
    """
    url = _URL.match(path)
    parts = [part for part in (url[1] if url else path).split("/") if part]
    counts = [*range(1, min(len(parts), MAX_PATH_PARTS + 1)), len(parts)]
    whole = ["/".join(parts[-count:]) for count in counts if parts]
    return list(dict.fromkeys((*whole, *(_ENDING.sub("", name) for name in whole))))


def document_names(document: Document) -> list[str]:
    """Return the names that a document has from its path and from its first copies' paths.

    Data files are only named with their suffix: `search` does not find `search.json`.
    """
    places = document.also_at[:MAX_NAMED_COPIES]
    paths = [document.path, *(place.path for place in places)]
    names = dict.fromkeys(name for path in paths for name in path_names(path))
    return [name for name in names if not is_data(document) or _ENDING.search(name)]


class ChunkNames(NamedTuple):
    """The names of each chunk of a document.

    `defined` are names that the chunk's text defines. `titles` are the title and aliases of the
    document, or empty for data; `of_path` are the names that only its path contains.
    """

    by_chunk: Sequence[tuple[str, ...]]
    defined: Sequence[tuple[str, ...]]
    titles: frozenset[str]
    of_path: frozenset[str]


def chunk_names(document: Document, chunks: Sequence[Chunk]) -> ChunkNames:
    """Return the names of a document's chunks.

    Names of a chunk are the headings in it, and the heading above it if it is the first chunk below
    that heading. The first chunk also has the document's title, its aliases and the names in its
    path. Keys of data are not names: people who ask for `authentication` want a page about it, not
    any file with that key.
    """
    titles = document.title, *document.reading.aliases
    of_path = document_names(document)
    found: list[tuple[str, ...]] = []
    previous: set[tuple[str, ...]] = set()
    defined: set[tuple[str, ...]] = set()
    for place, chunk in enumerate(chunks):
        own = [*titles, *of_path] if place == 0 else []
        paths = () if is_data(document) else (chunk.heading_path, *chunk.inner_paths)
        for path in paths:
            if path and path not in previous and path not in defined:
                own.append(path[-1])
                if is_code(document):
                    own += qualified_names(document, path)
                    defined.add(path)
        previous = {*paths}
        found.append(tuple(dict.fromkeys(own)))
    of_page = frozenset[str]() if is_data(document) else frozenset(titles)
    is_prose = not is_code(document) and not is_data(document)
    explained = [
        tuple(defined_names(chunk.text, (document.title, *chunk.heading_path))) if is_prose else ()
        for chunk in chunks
    ]
    return ChunkNames(found, explained, of_page, frozenset(of_path) - {*titles})


def heading_terms(tokens: Sequence[Token]) -> tuple[set[str], set[str]]:
    """Return the heading terms of a heading, and separately those of names further inside it.

    These are the whole heading, and each identifier in it, alone and with adjacent numbers and
    acronyms: `30 CFR 75.1725 Machinery` is found by itself, by `30 CFR 75.1725` and by `75.1725`;
    the heading `Comment on 75.1725` contains the last one. A heading that is only a name has one
    more term, so it ranks before headings that contain the name. A letter that may be an article
    (`Level A compliance`) is optional, and a name that may be written as one word or several has
    both forms.
    """
    groups: list[Sequence[Token]] = [tokens]
    others = [token for token in tokens if token.text.casefold() not in _ARTICLES]
    groups += [others] if len(others) < len(tokens) else []
    found, inside = groups, list[Sequence[Token]]()
    run: list[Token] = []
    for token in (*tokens, None):
        if token is not None and (token.is_identifier or token.may_accompany):
            run.append(token)
            continue
        identifiers = [[member] for member in run if member.is_identifier]
        found += [run, *identifiers] if identifiers else []
        run = []
        if token is not None and token.terms and token.text.casefold() not in _DIVISIONS:
            found = inside
    named = (surface_term(tokens), *_heading_terms(groups))
    return {term for term in named if term}, {term for term in _heading_terms(inside) if term}


def _heading_terms(groups: Sequence[Sequence[Token]]) -> Iterator[str | None]:
    for group in groups:
        yield heading_term(group)
        if any(token.spellings for token in group):
            yield heading_term(group, as_one=True)


_DOUBLE_COLON = frozenset(("code-cpp", "code-php", "code-ruby", "code-rust"))
"""Readers of languages that write `Store::size` instead of `Store.size`."""


def qualified_names(document: Document, path: tuple[str, ...]) -> list[str]:
    """Return the last name of `path` with one qualifier, two and so on.

    For `size` in the class `Store` of `shop.py`, these are `Store.size` and `shop.Store.size`. The
    module is the file's name without its suffix.
    """
    names = (PurePosixPath(document.path).stem, *path)
    joint = "::" if document.reader.partition("/")[0] in _DOUBLE_COLON else "."
    return [joint.join(names[start:]) for start in range(len(names) - 2, -1, -1)]
