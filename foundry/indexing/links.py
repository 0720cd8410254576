"""Builds the link graph of documents.

Links are resolved by address: a relative path within the source, a url, or the page name in a
wikilink. If no page has that name, it may be an alias. Addresses are compared without
fragment, query, suffix of a text format, and final `index` or `README`, since websites link to
published urls and repositories to files.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote, urljoin, urlsplit

import numpy as np

from foundry.documents import Document, Place
from foundry.documents.prepared import LinkKeys, pack
from foundry.indexing.carried.carried import Carried
from foundry.indexing.files import StoredRows, look_up, offsets_of, write_array
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.index.lines import hash_key

_SUFFIX = re.compile(
    r"\.(?:md|mdx|markdown|html?|xhtml|rst|txt|adoc|asciidoc|ipynb|org|tex)$", re.IGNORECASE
)
_INDEX = re.compile(r"(?:^|/)(?:index|readme)$", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class LinksBuilder:
    """Collects documents and links, and resolves the links at the end.

    Targets and addresses are 64-bit hashes, which depend on one document alone.
    """

    def __init__(self, carried: Carried) -> None:
        self._links = carried.table("links", "QQ")
        self._addresses = carried.table("addresses", "Q")

    def add(self, keys: LinkKeys) -> None:
        """Add the links of the next document."""
        self._addresses.add(keys.addresses)
        self._links.add(keys.first, keys.other)

    def resolve(self) -> StoredRows:
        """Return the numbers of the other documents that each document links to, each once.

        The numbers are in the order of the links. If two documents have the same address, it stands
        for the first one.
        """
        addresses, links = self._addresses.stored(), self._links.stored()
        known, places = np.unique(addresses.columns[0], return_index=True)
        holders = np.searchsorted(addresses.offsets[1:], places, side="right")
        targets = look_up(links.columns[0], known, holders)
        targets = np.where(targets < 0, look_up(links.columns[1], known, holders), targets)
        documents = np.repeat(np.arange(len(self._links)), np.diff(links.offsets).astype(np.int64))
        leads = (targets >= 0) & (targets != documents)
        pairs = documents[leads] << np.int64(32) | targets[leads]
        once = pairs[np.sort(np.unique(pairs, return_index=True)[1])]
        counts = np.bincount(once >> np.int64(32), minlength=len(self._links))
        return StoredRows(offsets_of(counts), [(once & 0xFFFFFFFF).astype(np.uint32)])

    def write(self, layout: IndexLayout) -> None:
        """Write the targets of all links, and the offsets of each document's links."""
        resolved = self.resolve()
        write_array(layout.link_offsets, resolved.offsets)
        write_array(layout.link_targets, resolved.columns[0])


def link_keys(document: Document) -> LinkKeys:
    """Return the targets of a document's links, and the addresses by which links can find it."""
    asked = [(first, other) for first, other in _asked_by(document) if first or other]
    return LinkKeys(
        first=_pack(first for first, _ in asked),
        other=_pack(other for _, other in asked),
        addresses=_pack(dict.fromkeys(_addresses_of(document))),
    )


def _pack(keys: Iterable[int]) -> bytes:
    return pack(np.array([*keys], dtype=np.uint64))


def _addresses_of(document: Document) -> Iterator[int]:
    places: list[Document | Place] = [document, *document.also_at]
    for place in places:
        yield _key("path", place.source, clean_path(place.path))
        if place.url and (address := clean_url(place.url)):
            yield _key("url", address)
    for name in _page_names(document):
        yield _key("page", document.source, name)
    for alias in document.reading.aliases:
        yield _key("alias", document.source, _fold(alias))


def _asked_by(document: Document) -> Iterator[tuple[int, int]]:
    """Yield two targets of each link: the second is used if no document has the first.

    A target is 0 if there is none.
    """
    source, url = document.source, document.url
    for link in document.reading.links:
        if link.kind == "wikilink":
            page = _fold(link.target)
            yield _key("page", source, page), _key("alias", source, page)
        elif _SCHEME.match(link.target) or link.target.startswith("//"):
            yield _asked_url(url or "https:", link.target), 0
        elif not link.target.startswith("#") and (target := _path_of(link.target)) is not None:
            base = "" if target.startswith("/") else posixpath.dirname(document.path)
            path = clean_path(posixpath.join(base, target.lstrip("/")))
            yield _key("path", source, path), _asked_url(url, link.target) if url else 0


def _asked_url(base: str, target: str) -> int:
    try:
        address = clean_url(urljoin(base, target))
    except ValueError:
        return 0
    return 0 if address is None else _key("url", address)


def _key(*parts: str) -> int:
    return hash_key("\0".join(parts))


def clean_path(path: str) -> str:
    """Return a path in the form in which it is compared.

    It has no suffix of a text format and no final `index` or `README`; if nothing is left, it is
    `.`.
    """
    path = posixpath.normpath(path).lstrip("/")
    return _INDEX.sub("", _SUFFIX.sub("", path)).removesuffix("/").removeprefix("./") or "."


def clean_url(url: str) -> str | None:
    """Return the url of a page in the form in which it is compared; None for any other url.

    The scheme is left out.
    """
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
