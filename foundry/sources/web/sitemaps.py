"""Parses sitemaps (sitemaps.org): XML or text, nested, gzipped, from untrusted sites."""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from xml.etree.ElementTree import Element, ParseError, iterparse

from foundry.documents.reasons import AnyReason, Reason, of_sitemap
from foundry.fetching.exchange import MEMBER_START, unzip
from foundry.fetching.failures import FetchError, refused
from foundry.fetching.fetcher import Fetcher
from foundry.sources.coverage import Coverage
from foundry.sources.web.scope import Scope
from foundry.urls import Url, UrlError, join_url

MAX_BYTES = 64_000_000
"""Maximum size of one sitemap; the protocol allows 50 MiB."""

MAX_TOTAL_BYTES = 512_000_000
MAX_DEPTH = 5
MAX_SITEMAPS = 10_000
MAX_ENTRIES = 2_000_000
MAX_ELEMENTS = 2_000_000
"""Maximum number of elements in a sitemap: forty for each of the 50,000 allowed pages."""

_MAX_NESTING = 16
_ROOTS = frozenset({"urlset", "sitemapindex"})
_START_BYTES = 65_536
_AS_GZIP = zlib.MAX_WBITS | 16
# The pattern also matches UTF-16, where each character has a zero byte.
_DTD = re.compile(rb"<\0?!\0?D\0?O\0?C\0?T\0?Y\0?P\0?E")
_TEXT_LINE = re.compile(r"https?://\S+", re.IGNORECASE)


@dataclass
class SitemapWalk:
    """The urls of a sitemap and of the sitemaps that it lists.

    `pages` maps urls in the source's scope to their `lastmod`, in order. Malformed urls and those
    of other hosts are counted in `coverage`; urls that the patterns exclude are not. `is_complete`
    is False once reading a listed sitemap has failed; refused ones do not count.
    """

    fetcher: Fetcher
    scope: Scope
    coverage: Coverage
    pages: dict[Url, str | None] = field(default_factory=dict)
    is_complete: bool = True
    _visited: set[Url] = field(default_factory=set)
    _bytes: int = 0
    _entries: int = 0

    def read(self, url: Url, depth: int = 1) -> None:
        """Read a sitemap and those that it lists. Raises FetchError if the first one fails."""
        try:
            self._read(url, depth)
        except FetchError as error:
            if depth == 1:
                raise
            self.is_complete = self.is_complete and error.kind == "refused"
            self.coverage.miss(str(url), error.kind, of_sitemap(error.reason), error.detail)

    def _read(self, url: Url, depth: int) -> None:
        if url in self._visited:
            raise refused(Reason.LISTED_TWICE)
        if depth > MAX_DEPTH:
            raise FetchError(Reason.SITEMAPS_TOO_DEEP, f"more than {MAX_DEPTH} levels")
        if len(self._visited) >= MAX_SITEMAPS:
            raise FetchError(Reason.TOO_MANY_SITEMAPS, f"more than {MAX_SITEMAPS}")
        self._visited.add(url)
        fetched = self.fetcher.fetch(url, max_bytes=MAX_BYTES)
        if fetched.url != url and fetched.url in self._visited:
            raise refused(Reason.LISTED_TWICE, f"is {fetched.url}")
        self._visited.add(fetched.url)
        content = fetched.body
        if content.startswith(b"\x1f\x8b"):
            content = unzip(content, MAX_BYTES)
        self._bytes += len(content)
        if self._bytes > MAX_TOTAL_BYTES:
            raise FetchError(Reason.SITEMAPS_TOO_MUCH, f"more than {MAX_TOTAL_BYTES} bytes in all")
        nested: list[str] = []
        for kind, location, modified in parse_sitemap(content):
            self._entries += 1
            if self._entries > MAX_ENTRIES:
                raise FetchError(
                    Reason.SITEMAPS_TOO_MUCH, f"more than {MAX_ENTRIES} entries in all"
                )
            if kind == "sitemap":
                nested.append(location)
            else:
                self._add(fetched.url, location, modified)
        for location in nested:
            try:
                below = join_url(fetched.url, location)
                # `include` is meant for pages, which are often in other folders.
                if not self.scope.excludes(below):
                    self.read(below, depth + 1)
            except UrlError as error:
                self._refuse(location, of_sitemap(error.reason), error.detail)

    def _add(self, sitemap: Url, location: str, modified: str | None) -> None:
        try:
            url = join_url(sitemap, location)
            self.scope.check_host(url)
        except UrlError as error:
            self._refuse(location, error.reason, error.detail)
        except FetchError as error:
            self._refuse(str(url), error.reason)
        else:
            if self.scope.selects(url):
                self.pages.setdefault(url, modified)

    def _refuse(self, path: str, reason: AnyReason, detail: str = "") -> None:
        self.coverage.miss(path, "refused", reason, detail)


def is_sitemap(content: bytes) -> bool:
    """Return whether content is XML, perhaps gzipped, with the root element of a sitemap."""
    start = content[:_START_BYTES]
    try:
        if start.startswith(MEMBER_START):
            start = zlib.decompressobj(_AS_GZIP).decompress(start, _START_BYTES)
        if _DTD.search(start):
            return False
        root = next((element for _, element in iterparse(BytesIO(start), ("start",))), None)
    except (ParseError, ValueError, LookupError, zlib.error):
        return False
    return root is not None and root.tag.rpartition("}")[2] in _ROOTS


def parse_sitemap(content: bytes) -> Iterator[tuple[str, str, str | None]]:
    """Yield a sitemap's entries: "page" or "sitemap", the location as written, and any `lastmod`.

    Raises FetchError for a DTD, damaged XML, and any other format.
    """
    start = content[:1024].removeprefix(b"\xef\xbb\xbf").lstrip()
    is_wide = content[:2] in {b"\xff\xfe", b"\xfe\xff"}
    if not start.startswith(b"<") and not is_wide:
        yield from _parse_text(content)
        return
    try:
        yield from _parse_xml(content)
    except (ParseError, ValueError, LookupError) as error:
        raise FetchError(Reason.NOT_A_SITEMAP, str(error)[:200]) from None


def _parse_text(content: bytes) -> Iterator[tuple[str, str, str | None]]:
    lines = content.decode("utf-8-sig", "replace").split()
    if not lines or not _TEXT_LINE.fullmatch(lines[0]):
        raise FetchError(Reason.NOT_A_SITEMAP, "neither XML nor a list of urls")
    for line in lines:
        yield "page", line, None


def _parse_xml(content: bytes) -> Iterator[tuple[str, str, str | None]]:
    if _DTD.search(content):
        raise FetchError(Reason.HOLDS_DTD)
    path: list[Element] = []
    fields: dict[str, str] = {}
    elements = 0
    for event, element in iterparse(BytesIO(content), ("start", "end")):
        name = element.tag.rpartition("}")[2]
        if event == "start":
            path.append(element)
            elements += 1
            if elements > MAX_ELEMENTS:
                raise FetchError(Reason.SITEMAPS_TOO_MUCH, f"more than {MAX_ELEMENTS} elements")
            if len(path) == 1 and name not in _ROOTS:
                raise FetchError(Reason.NOT_A_SITEMAP, f"its element is {name[:100]}")
            if len(path) > _MAX_NESTING:
                raise FetchError(Reason.NOT_A_SITEMAP, "elements are nested too deeply")
            continue
        path.pop()
        if len(path) == 2 and name in {"loc", "lastmod"}:
            fields[name] = (element.text or "").strip()
        elif len(path) == 1:
            if fields.get("loc"):
                kind = "sitemap" if name == "sitemap" else "page"
                yield kind, fields["loc"], fields.get("lastmod")
            fields = {}
        if path:
            # Elements that were read are freed.
            path[-1].clear()
