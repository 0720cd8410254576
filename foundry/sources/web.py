"""Fetch all web sources first, then deliver them from the cache in the order of urls."""

from collections.abc import Iterator, Sequence
from contextlib import closing
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
from foundry.sources.fetched import FetchedSource
from foundry.sources.web_collecting import Collector
from foundry.sources.web_scope import Scope

CACHE_FOLDER = "web"


def fetch_sources(
    sources: Sequence[WebSource], state: Path, step: StartStep, policy: Policy
) -> tuple[dict[str, FetchedSource], dict[str, Coverage]]:
    """Fetch the pages of every web source, and keep them in `state` from build to build.

    Returns, by name, the sources that can now be iterated over, and their coverage. Raises
    SourceError when too little of a source could be fetched, BuildError when nothing can be kept.
    """
    coverages: dict[str, Coverage] = {}
    ready: dict[str, FetchedSource] = {}
    with closing(PageCache(state / CACHE_FOLDER)) as cache:
        for source in sources:
            ready[source.name], coverages[source.name] = _fetch(source, state, cache, step, policy)
        cache.drop_unused()
    return ready, coverages


def iterate(source: FetchedSource) -> Iterator[RawDocument | Skipped]:
    """Deliver a source's pages in the order of their urls, then what was left out.

    `key`, `path` and `url` are the canonical url.
    """
    with closing(PageCache(source.folder)) as cache:
        for page in source.pages:
            cached, url = cache.load(page.content), str(page.url)
            if cached is None:
                yield Skipped(source.name, indexed_name(url), Reason.DAMAGED_IN_CACHE)
            else:
                yield RawDocument(
                    source=source.name,
                    key=url,
                    path=indexed_name(url),
                    content=cached.body,
                    media_type=page.media_type,
                    url=url,
                    tags=source.tags,
                    charset=page.charset,
                    modified_elsewhere=page.modified,
                )
    yield from source.skipped


def _fetch(
    source: WebSource, state: Path, cache: PageCache, step: StartStep, policy: Policy
) -> tuple[FetchedSource, Coverage]:
    network = Network(policy)
    manners = Manners(
        user_agent=source.user_agent,
        seconds_between=1 / source.requests_per_second,
        timeout=source.timeout_seconds,
    )
    with step(f"Fetching {source.name}", "pages") as progress:
        fetcher = Fetcher(manners, cache, network, Scope(source).check_host)
        pages, coverage = Collector(source, fetcher, network, progress).collect()
    fetched = FetchedSource(
        name=source.name,
        tags=source.tags,
        folder=state / CACHE_FOLDER,
        pages=tuple(pages),
        skipped=tuple(
            sorted(coverage.skipped, key=lambda entry: (entry.path, entry.reason, entry.detail))
        ),
    )
    return fetched, coverage
