"""Builds the link graph: which documents of the index each document links to.

A link is resolved by its address: a relative path within its source, a url, or a wikilink's page
name, which may be an alias unless a page is called so. Addresses are compared without fragment,
query, suffix of a text format, and `index` at the end, since sites are linked by what they serve
and repositories by what they hold.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote, urljoin, urlsplit

import numpy as np

from foundry.indexing.files import write_array
from foundry.indexing.postings import offsets_of
from foundry.records import Document, Link, Place
from foundry.runtime.index.layout import IndexLayout

_SUFFIX = re.compile(
    r"\.(?:md|mdx|markdown|html?|xhtml|rst|txt|adoc|asciidoc|ipynb|org|tex)$", re.IGNORECASE
)
_INDEX = re.compile(r"(?:^|/)(?:index|readme)$", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class LinksBuilder:
    """Collects documents and their links, and resolves them when all are there."""

    def __init__(self) -> None:
        self._paths: dict[tuple[str, str], int] = {}
        self._urls: dict[str, int] = {}
        self._pages: dict[tuple[str, str], int] = {}
        self._aliases: dict[tuple[str, str], int] = {}
        self._documents: list[tuple[str, str, str | None]] = []
        self._links: list[tuple[Link, ...]] = []

    def add(self, document: Document) -> None:
        """Take the next document. Of two that share an address, the first has it."""
        number, source = len(self._documents), document.source
        self._documents.append((source, document.path, document.url))
        self._links.append(document.reading.links)
        places: list[Document | Place] = [document, *document.also_at]
        for place in places:
            self._paths.setdefault((place.source, clean_path(place.path)), number)
            if place.url and (address := clean_url(place.url)):
                self._urls.setdefault(address, number)
        for name in _page_names(document):
            self._pages.setdefault((source, name), number)
        for alias in document.reading.aliases:
            self._aliases.setdefault((source, _fold(alias)), number)

    def resolve(self) -> list[list[int]]:
        """Return the numbers of the documents that each document links to, each once, in its
        order."""
        resolved = []
        for number, links in enumerate(self._links):
            found = (self._find(number, link) for link in links)
            targets = dict.fromkeys(target for target in found if target not in (None, number))
            resolved.append([target for target in targets if target is not None])
        return resolved

    def write(self, layout: IndexLayout) -> None:
        """Write the files."""
        resolved = self.resolve()
        write_array(layout.link_offsets, offsets_of([len(targets) for targets in resolved]))
        flat = [target for targets in resolved for target in targets]
        write_array(layout.link_targets, np.array(flat, dtype=np.uint32))

    def _find(self, number: int, link: Link) -> int | None:
        source, path, url = self._documents[number]
        if link.kind == "wikilink":
            page = (source, _fold(link.target))
            return self._pages.get(page, self._aliases.get(page))
        if link.target.startswith("#"):
            return None
        if _SCHEME.match(link.target) or link.target.startswith("//"):
            return self._find_url(url or "https:", link.target)
        target = _path_of(link.target)
        if target is None:
            return None
        base = "" if target.startswith("/") else posixpath.dirname(path)
        found = self._paths.get((source, clean_path(posixpath.join(base, target.lstrip("/")))))
        if found is None and url:
            found = self._find_url(url, link.target)
        return found

    def _find_url(self, base: str, target: str) -> int | None:
        try:
            address = clean_url(urljoin(base, target))
        except ValueError:
            return None
        return None if address is None else self._urls.get(address)


def clean_path(path: str) -> str:
    """A path as it is compared: normal form, without the suffix of a text format or an index."""
    path = posixpath.normpath(path).lstrip("/")
    return _INDEX.sub("", _SUFFIX.sub("", path)).removesuffix("/").removeprefix("./") or "."


def clean_url(url: str) -> str | None:
    """Return the address of a page as it is compared, without its scheme; None where there is
    none."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "") + (f":{parts.port}" if parts.port else "")
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not host:
        return None
    return f"{host}/{clean_path(unquote(parts.path) or '/')}"


def _path_of(target: str) -> str | None:
    try:
        path = unquote(urlsplit(target).path)
    except ValueError:
        return None
    return path or None


def _page_names(document: Document) -> Iterable[str]:
    path = _SUFFIX.sub("", document.path)
    names: Mapping[str, None] = dict.fromkeys(
        (_fold(path), _fold(posixpath.basename(path)), _fold(document.title))
    )
    return (name for name in names if name)


def _fold(name: str) -> str:
    return " ".join(_SUFFIX.sub("", name).strip("/").casefold().split())
