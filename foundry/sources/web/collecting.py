"""Fetches the pages of a web source into the cache, level by level, each in parallel.

The urls of a level are fixed before it starts, in url order, so the result does not depend on the
order of responses.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice

from foundry.config.web_sources import (
    ListedSource,
    SitemapSource,
    SiteSource,
    UrlSource,
    WebSource,
)
from foundry.documents.reasons import Reason, of_sitemap
from foundry.fetching.failures import FetchError, refused
from foundry.fetching.fetcher import Fetched, Fetcher
from foundry.fetching.network import Network
from foundry.progress import Progress
from foundry.sources.coverage import Coverage
from foundry.sources.fetched import FetchedPage
from foundry.sources.web.page import PageFacts, Twins, charset, examine, media_type
from foundry.sources.web.scope import Scope
from foundry.sources.web.sitemaps import SitemapWalk, is_sitemap
from foundry.urls import Url, UrlError, join_url, parse_url

WORKERS = 8
URLS_AT_ONCE = 128
MAX_REFRESHES = 3
MAX_WAITING_URLS = 100_000
"""Maximum number of links kept for the next level, unless `max_pages` is larger."""


# Media types that carry no information; name and content decide instead.
_VAGUE_TYPES = frozenset({"text/plain", "application/octet-stream", "binary/octet-stream"})
_TYPE_NAMES = {"application/xhtml+xml": "text/html", "text/x-markdown": "text/markdown"}


class Collector:
    """Collects the pages of one source; an error or Ctrl-C stops `network`."""

    def __init__(
        self, source: WebSource, fetcher: Fetcher, network: Network, progress: Progress
    ) -> None:
        self._source = source
        self._fetcher = fetcher
        self._network = network
        self._progress = progress
        self._scope = Scope(source)
        self._coverage = Coverage(source.name)
        self._modified: dict[Url, str | None] = {}
        self._twins = Twins(fetcher, source.max_bytes)
        self._pages: list[FetchedPage] = []
        self._seen: set[Url] = set()
        self._begun = 0
        self._max_pages = (
            source.max_pages if isinstance(source, ListedSource) else len(source.start)
        )

    def collect(self) -> tuple[list[FetchedPage], Coverage]:
        """Fetch everything; return the distinct pages in url order, and the coverage.

        Raises SourceError if too little could be fetched.
        """
        pool = ThreadPoolExecutor(WORKERS)
        try:
            is_complete = self._fetch_all(pool)
        except BaseException:
            self._network.stop.set()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
        pages = self._without_duplicates()
        self._coverage.check(self._source.min_coverage, is_complete=is_complete)
        return pages, self._coverage

    def _fetch_all(self, pool: ThreadPoolExecutor) -> bool:
        """Fetch all pages; return whether everything that the source lists is known."""
        source = self._source
        start = [parse_url(url) for url in source.start]
        if not isinstance(source, ListedSource):
            self._fetch_level(pool, start)
            return True
        listed = self._twins.read_listing(start[0]) if source.markdown else []
        if isinstance(source, SitemapSource):
            return self._fetch_listed(pool, start[0])
        level = self._fetch_level(pool, start)
        if self._coverage.refused[Reason.SITEMAP]:
            return self._fetch_listed(pool, start[0])
        levels = source.depth if isinstance(source, SiteSource) else 0
        for depth in range(levels):
            if depth == 0:
                level += [*self._read_sitemaps(start[0]), *listed]
            level = self._fetch_level(pool, filter(self._scope.follows, level))
        if levels:
            alone = self._twins.without_pages(page.final for page in self._pages)
            self._fetch_level(pool, filter(self._scope.follows, alone))
        return True

    def _fetch_listed(self, pool: ThreadPoolExecutor, sitemap: Url) -> bool:
        """Fetch the pages that a sitemap lists; return whether all of it could be read."""
        # If the source is a site, its sitemap has already been counted as a refused page.
        self._coverage, self._begun = Coverage(self._source.name), 0
        walk = SitemapWalk(self._fetcher, self._scope, self._coverage)
        try:
            walk.read(sitemap)
        except FetchError as error:
            self._coverage.miss(str(sitemap), error.kind, of_sitemap(error.reason))
            return False
        if not walk.pages and not self._coverage.found:
            self._coverage.miss(str(sitemap), "failed", of_sitemap(Reason.NOTHING_SELECTED))
        self._modified = dict(walk.pages)
        self._fetch_level(pool, walk.pages, in_order=True)
        return walk.is_complete

    def _fetch_level(
        self, pool: ThreadPoolExecutor, urls: Iterable[Url], *, in_order: bool = False
    ) -> list[Url]:
        """Fetch new urls; return the links of their pages."""
        new = [url for url in dict.fromkeys(urls) if url not in self._seen]
        if not in_order:
            new.sort()
        self._seen.update(new)
        wanted = new[: self._max_pages - self._begun]
        self._begun += len(wanted)
        for url in new[len(wanted) :]:
            self._coverage.miss(str(url), "refused", Reason.OVER_MAX_PAGES)
        links: dict[Url, None] = {}
        room = max(MAX_WAITING_URLS, self._max_pages)
        for url, (found, leads_to) in self._visit_all(pool, wanted):
            self._progress.advance()
            fresh = (link for link in leads_to if link not in self._seen)
            links.update(dict.fromkeys(islice(fresh, max(0, room - len(links)))))
            if isinstance(found, FetchError):
                self._coverage.miss(str(url), found.kind, found.reason, found.detail)
            else:
                self._pages.append(found)
        return list(links)

    def _visit_all(
        self, pool: ThreadPoolExecutor, urls: list[Url]
    ) -> Iterator[tuple[Url, tuple[FetchedPage | FetchError, tuple[Url, ...]]]]:
        """Visit in the order of `urls`, a few at a time, since pages may have very many links."""
        for start in range(0, len(urls), URLS_AT_ONCE):
            part = urls[start : start + URLS_AT_ONCE]
            yield from zip(part, pool.map(self._visit, part), strict=True)

    def _visit(self, url: Url) -> tuple[FetchedPage | FetchError, tuple[Url, ...]]:
        """Fetch a page and any Markdown version of it; return the page or an error, and its links.

        Runs in a thread of the pool.
        """
        source = self._source
        try:
            fetched, facts = self._fetch(url)
        except FetchError as error:
            return error, ()
        links = facts.links if isinstance(source, SiteSource) else ()
        # Many sites send `noindex` with their sitemaps.
        if is_sitemap(fetched.body):
            return refused(Reason.SITEMAP), links
        if facts.noindex:
            return refused(Reason.NOINDEX), links
        twin = self._twins.fetch(fetched.url, facts) if source.markdown else None
        read = twin or fetched
        stated = "text/markdown" if twin else media_type(fetched.headers) or ""
        named = _TYPE_NAMES.get(stated, stated)
        page = FetchedPage(
            url=self._canonical(fetched, facts),
            requested=url,
            final=fetched.url,
            content=read.url,
            media_type=None if named in _VAGUE_TYPES else named or None,
            charset=charset(read.headers),
            unchanged=read.unchanged,
            modified=self._modified.get(url),
        )
        return page, links

    def _fetch(self, url: Url) -> tuple[Fetched, PageFacts]:
        """Fetch a page, following `refresh` redirects to pages of the same site."""
        fetched = self._fetcher.fetch(url, max_bytes=self._source.max_bytes)
        facts = examine(fetched, self._fetcher.agent)
        for _ in range(MAX_REFRESHES):
            if facts.refresh is None or not self._is_same_site(facts.refresh, fetched.url):
                break
            fetched = self._fetcher.fetch(facts.refresh, max_bytes=self._source.max_bytes)
            facts = examine(fetched, self._fetcher.agent)
        return fetched, facts

    def _is_same_site(self, found: Url, page: Url) -> bool:
        if isinstance(self._source, UrlSource):
            return found.host == page.host
        return self._scope.has_host(found)

    def _canonical(self, fetched: Fetched, facts: PageFacts) -> Url:
        found = facts.canonical
        is_known = found is not None and self._is_same_site(found, fetched.url)
        return found if found is not None and is_known else fetched.url

    def _read_sitemaps(self, home: Url) -> list[Url]:
        """Return the pages in the sitemaps that robots.txt lists."""
        walk = SitemapWalk(self._fetcher, self._scope, Coverage(self._source.name))
        for written in self._fetcher.rules_for(home).sitemaps():
            with suppress(FetchError, UrlError):
                walk.read(join_url(home, written))
        self._modified = dict(walk.pages)
        return list(walk.pages)

    def _without_duplicates(self) -> list[FetchedPage]:
        twins = {page.content for page in self._pages if page.is_twin}
        kept: dict[Url, FetchedPage] = {}
        # A page requested under its canonical url is preferred to one that only names that url.
        for page in sorted(
            self._pages, key=lambda page: (page.requested != page.url, page.requested)
        ):
            other = kept.get(page.url)
            if other is not None or (page.final in twins and not page.is_twin):
                shown = f"is {page.url}" if other is not None else "is a page's Markdown version"
                self._coverage.miss(str(page.requested), "refused", Reason.DUPLICATE_PAGE, shown)
            else:
                kept[page.url] = page
                self._coverage.hit(unchanged=page.unchanged, markdown=page.is_twin)
        return [kept[url] for url in sorted(kept)]
