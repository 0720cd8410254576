"""The pages of a web source fetched into the cache, level by level, each level in parallel.

What a level holds is decided before it begins, in the order of its urls, so that the result does
not depend on which answer comes first.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from foundry.config.web_sources import (
    ListedSource,
    SitemapSource,
    SiteSource,
    UrlSource,
    WebSource,
)
from foundry.fetching.failures import FetchError
from foundry.fetching.fetcher import Fetched, Fetcher
from foundry.fetching.network import Network
from foundry.progress import Progress
from foundry.sources.coverage import DUPLICATE, NOINDEX, OVER_MAX_PAGES, Coverage
from foundry.sources.sitemaps import SitemapWalk
from foundry.sources.web_page import PageFacts, charset, examine, media_type
from foundry.sources.web_scope import Scope
from foundry.sources.web_twins import Twins
from foundry.urls import Url, UrlError, join_url, parse_url

WORKERS = 8
URLS_AT_ONCE = 128
MAX_WAITING_URLS = 100_000
"""Links that are remembered for the next level, if `max_pages` is no larger."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page that the cache holds.

    `url` is the canonical one, `requested` that by which it was found, `final` where redirects
    led, and `content` that whose bytes are read: `final`, or the page's Markdown twin.
    """

    url: Url
    requested: Url
    final: Url
    content: Url
    media_type: str | None
    charset: str | None
    unchanged: bool
    modified: str | None = None

    @property
    def is_twin(self) -> bool:
        """True if the bytes are those of the Markdown twin."""
        return self.content != self.final


@dataclass(frozen=True, slots=True)
class _Visit:
    page: Page | None
    links: tuple[Url, ...] = ()
    failure: FetchError | None = None


class Collector:
    """Collects one source.

    Args:
        source: What to collect.
        fetcher: Asks for pages.
        network: Which is stopped when the build is.
        progress: Advances with every page.
    """

    def __init__(
        self, source: WebSource, fetcher: Fetcher, network: Network, progress: Progress
    ) -> None:
        self._source = source
        self._fetcher = fetcher
        self._network = network
        self._progress = progress
        self._scope = Scope(source)
        self._agent = source.user_agent.partition("/")[0].partition(" ")[0]
        self._coverage = Coverage(source.name)
        self._modified: dict[Url, str | None] = {}
        self._twins = Twins(fetcher, self._scope, source.max_bytes)
        self._pages: list[Page] = []
        self._seen: set[Url] = set()
        self._begun = 0
        self._max_pages = (
            source.max_pages if isinstance(source, ListedSource) else len(source.start)
        )

    def collect(self) -> tuple[list[Page], Coverage]:
        """Fetch everything; returns the pages in the order of their urls, each once.

        Raises:
            SourceError: When too little could be fetched.
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
        """Returns whether all that the source lists is known."""
        source = self._source
        start = [parse_url(url) for url in source.start]
        if not isinstance(source, ListedSource):
            self._fetch_level(pool, start)
            return True
        listed = self._twins.read_listing(start[0]) if source.markdown else []
        if isinstance(source, SitemapSource):
            walk = SitemapWalk(self._fetcher, self._scope, self._coverage)
            try:
                walk.read(start[0])
            except FetchError as error:
                self._coverage.miss(str(start[0]), error.kind, f"sitemap: {error.reason}")
                return False
            self._modified = dict(walk.pages)
            self._fetch_level(pool, walk.pages, in_order=True)
            return walk.is_complete
        level = self._fetch_level(pool, start)
        levels = source.depth if isinstance(source, SiteSource) else 0
        for depth in range(levels):
            if depth == 0:
                level += [*self._read_sitemaps(start[0]), *listed]
            level = self._fetch_level(pool, filter(self._scope.follows, level))
        if levels:
            alone = self._twins.without_pages(page.final for page in self._pages)
            self._fetch_level(pool, filter(self._scope.follows, alone))
        return True

    def _fetch_level(
        self, pool: ThreadPoolExecutor, urls: Iterable[Url], *, in_order: bool = False
    ) -> list[Url]:
        """Fetch what was not fetched before; returns where the pages lead."""
        new = [url for url in dict.fromkeys(urls) if url not in self._seen]
        if not in_order:
            new.sort()
        self._seen.update(new)
        wanted = new[: self._max_pages - self._begun]
        self._begun += len(wanted)
        for url in new[len(wanted) :]:
            self._coverage.miss(str(url), "refused", OVER_MAX_PAGES)
        links: dict[Url, None] = {}
        room = max(MAX_WAITING_URLS, self._max_pages)
        for url, visit in self._visit_all(pool, wanted):
            self._progress.advance()
            fresh = (link for link in visit.links if link not in self._seen)
            links.update(dict.fromkeys(islice(fresh, max(0, room - len(links)))))
            if visit.failure is not None:
                failure = visit.failure
                self._coverage.miss(str(url), failure.kind, failure.reason, failure.detail)
            elif visit.page is not None:
                self._pages.append(visit.page)
            else:
                self._coverage.miss(str(url), "refused", NOINDEX)
        return list(links)

    def _visit_all(self, pool: ThreadPoolExecutor, urls: list[Url]) -> Iterator[tuple[Url, _Visit]]:
        """In the order of `urls`; only so many at a time, as pages may hold very many links."""
        for start in range(0, len(urls), URLS_AT_ONCE):
            part = urls[start : start + URLS_AT_ONCE]
            yield from zip(part, pool.map(self._visit, part), strict=True)

    def _visit(self, url: Url) -> _Visit:
        """Fetch a page and its Markdown twin, if it has one; runs in a thread of the pool."""
        source = self._source
        try:
            fetched = self._fetcher.fetch(
                url, max_bytes=source.max_bytes, allows=self._scope.check_host
            )
        except FetchError as error:
            return _Visit(None, failure=error)
        facts = examine(fetched, self._agent)
        links = facts.links if isinstance(source, SiteSource) else ()
        if facts.noindex:
            return _Visit(None, links)
        page = Page(
            url=self._canonical(fetched, facts),
            requested=url,
            final=fetched.url,
            content=fetched.url,
            media_type=media_type(fetched.headers),
            charset=charset(fetched.headers),
            unchanged=fetched.unchanged,
            modified=self._modified.get(url),
        )
        twin = self._twins.fetch(fetched.url, facts) if source.markdown else None
        if twin is not None:
            page = replace(
                page,
                content=twin.url,
                media_type="text/markdown",
                charset=charset(twin.headers),
                unchanged=twin.unchanged,
            )
        return _Visit(page, links)

    def _canonical(self, fetched: Fetched, facts: PageFacts) -> Url:
        found = facts.canonical
        is_same_site = found is not None and (
            found.host == fetched.url.host
            if isinstance(self._source, UrlSource)
            else self._scope.has_host(found)
        )
        return found if found is not None and is_same_site else fetched.url

    def _read_sitemaps(self, home: Url) -> list[Url]:
        """Return the pages in the sitemaps that robots.txt names; they only help a crawl to find
        pages."""
        walk = SitemapWalk(self._fetcher, self._scope, Coverage(self._source.name))
        for written in self._fetcher.rules_for(home).sitemaps():
            with suppress(FetchError, UrlError):
                walk.read(join_url(home, written))
        self._modified = dict(walk.pages)
        return list(walk.pages)

    def _without_duplicates(self) -> list[Page]:
        twins = {page.content for page in self._pages if page.is_twin}
        kept: dict[Url, Page] = {}
        # A page that was found by its canonical url goes before one that only names it.
        for page in sorted(
            self._pages, key=lambda page: (page.requested != page.url, page.requested)
        ):
            other = kept.get(page.url)
            if other is not None or (page.final in twins and not page.is_twin):
                shown = f"is {page.url}" if other is not None else "is a page's Markdown twin"
                self._coverage.miss(str(page.requested), "refused", DUPLICATE, shown)
            else:
                kept[page.url] = page
                self._coverage.hit(unchanged=page.unchanged, markdown=page.is_twin)
        return [kept[url] for url in sorted(kept)]
