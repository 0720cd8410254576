"""Fetches remote sources, so that a build can read all documents from this machine."""

from collections.abc import Callable, Sequence
from pathlib import Path

from foundry.config.git_sources import GitSource
from foundry.config.sources import FolderSource, RecordsSource, Source
from foundry.config.web_sources import WebSource
from foundry.features.feature import Table
from foundry.fetching.addresses import Policy
from foundry.progress import StartStep
from foundry.sources.fetched import Delivery, Fetched, ReadySource
from foundry.sources.git import source as git
from foundry.state.stamps import lasting_stamp

_BLOCK_BYTES = 1 << 20


def fetch_all(
    sources: Sequence[Source], state: Path, step: StartStep, policy: Policy
) -> tuple[tuple[ReadySource, ...], Delivery]:
    """Fetch remote sources; the network is not needed afterwards.

    Pages and repositories are kept in `state` between builds; `policy` decides which private hosts
    may be contacted. Returns all sources in order, and the results of fetching. Raises SourceError
    if a source, or enough of it, cannot be fetched, BuildError if pages cannot be stored.
    """
    ready: dict[str, Fetched] = {}
    traffic: dict[str, dict[str, int]] = {}
    coverage: dict[str, dict[str, object]] = {}
    for kind, fetch in _FETCHERS:
        if chosen := [source for source in sources if isinstance(source, kind)]:
            delivery = fetch(chosen, state, step, policy)
            ready |= delivery.sources
            traffic |= delivery.traffic
            coverage |= delivery.coverage
    here = (s for s in sources if isinstance(s, FolderSource | RecordsSource))
    local = {source.name: source for source in here}
    every: dict[str, ReadySource] = {**local, **ready}
    return tuple(every[source.name] for source in sources), Delivery(ready, traffic, coverage)


def _fetch_pages(
    sources: Sequence[WebSource], state: Path, step: StartStep, policy: Policy
) -> Delivery:
    # Imported when needed: the HTTP modules take longer to load than a small project takes to
    # build.
    from foundry.sources.web import source as web

    return web.fetch(sources, state, step, policy)


_FETCHERS: tuple[tuple[type[Table], Callable[..., Delivery]], ...] = (
    (WebSource, _fetch_pages),
    (GitSource, git.fetch),
)
"""The functions that fetch remote sources, by kind."""


def stamp(source: ReadySource) -> str | None:
    """Return the stamp of a table; None for other sources, or if there is no reliable stamp."""
    if not isinstance(source, RecordsSource):
        return None
    try:
        return lasting_stamp(source.path.stat())
    except OSError:
        return None


def estimate_rows(source: RecordsSource) -> int:
    """Return the approximate number of rows of a table; 0 if it cannot be read."""
    try:
        with source.path.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK_BYTES), b""))
    except OSError:
        return 0
