"""Fetches all web sources first, then delivers their pages from the cache, by url."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from foundry.config.web_sources import WebSource
from foundry.documents import RawDocument, Skipped
from foundry.documents.reasons import Reason
from foundry.fetching.addresses import Policy
from foundry.fetching.fetcher import Fetcher, Manners
from foundry.fetching.network import Network
from foundry.fetching.page_cache import PageCache
from foundry.progress import StartStep
from foundry.runtime.index.names import indexed_name
from foundry.sources.coverage import Coverage
from foundry.sources.fetched import Delivery, FetchedPage
from foundry.sources.web.collecting import Collector
from foundry.sources.web.scope import Scope

CACHE_FOLDER = "web"


@dataclass(frozen=True, slots=True)
class FetchedPages:
    """A web source whose pages are in the cache in `folder`."""

    name: str
    tags: tuple[str, ...]
    folder: Path
    pages: tuple[FetchedPage, ...]
    skipped: tuple[Skipped, ...]

    def __len__(self) -> int:
        """Return the number of pages, unchanged ones included."""
        return len(self.pages)

    def __iter__(self) -> Iterator[RawDocument | Skipped]:
        """Deliver the pages in url order, then the skipped ones.

        `key`, `path` and `url` are the canonical url.
        """
        with closing(PageCache(self.folder)) as cache:
            for page in self.pages:
                cached, url = cache.load(page.content), str(page.url)
                if cached is None:
                    yield Skipped(self.name, indexed_name(url), Reason.DAMAGED_IN_CACHE)
                else:
                    yield RawDocument(
                        source=self.name,
                        key=url,
                        path=indexed_name(url),
                        content=cached.body,
                        media_type=page.media_type,
                        url=url,
                        tags=self.tags,
                        charset=page.charset,
                        modified_elsewhere=page.modified,
                    )
        yield from self.skipped


def fetch(sources: Sequence[WebSource], state: Path, step: StartStep, policy: Policy) -> Delivery:
    """Fetch the pages of every web source into the cache in `state`.

    Raises SourceError if too little of a source could be fetched, BuildError if nothing can be
    stored.
    """
    with closing(PageCache(state / CACHE_FOLDER)) as cache:
        found = {source.name: _fetch(source, state, cache, step, policy) for source in sources}
        cache.drop_unused()
    return Delivery(
        {name: pages for name, (pages, _) in found.items()},
        {name: coverage.traffic() for name, (_, coverage) in found.items()},
        {name: coverage.values() for name, (_, coverage) in found.items()},
    )


def _fetch(
    source: WebSource, state: Path, cache: PageCache, step: StartStep, policy: Policy
) -> tuple[FetchedPages, Coverage]:
    network = Network(policy)
    manners = Manners(
        user_agent=source.user_agent,
        seconds_between=1 / source.requests_per_second,
        timeout=source.timeout_seconds,
    )
    with step(f"Fetching {source.name}", "pages") as progress:
        fetcher = Fetcher(manners, cache, network, Scope(source).check_host)
        pages, coverage = Collector(source, fetcher, network, progress).collect()
    fetched = FetchedPages(
        name=source.name,
        tags=source.tags,
        folder=state / CACHE_FOLDER,
        pages=tuple(pages),
        skipped=tuple(
            sorted(coverage.skipped, key=lambda entry: (entry.path, entry.reason, entry.detail))
        ),
    )
    return fetched, coverage
