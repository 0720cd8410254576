"""Deliver raw documents from every source, and say what it left out."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from foundry.config.git_sources import GitSource
from foundry.config.sources import RecordsSource, Source
from foundry.config.web_sources import WebSource
from foundry.documents import RawDocument, Skipped
from foundry.fetching.addresses import Policy
from foundry.progress import StartStep
from foundry.sources import git
from foundry.sources.fetched import FetchedRepository, FetchedSource, ReadySource
from foundry.state.stamps import lasting_stamp

_BLOCK_BYTES = 1 << 20


def fetch_all(
    sources: Sequence[Source], state: Path, step: StartStep, policy: Policy
) -> tuple[tuple[ReadySource, ...], dict[str, dict[str, object]], dict[str, dict[str, int]]]:
    """Fetch what is not on this machine; the network is not needed after this.

    Pages are kept in `state` from build to build; `policy` says which private hosts may be asked.
    Returns the sources to give to `iterate`; by the
    names of those of the web what became of their urls, which is the same whatever was kept; and
    how many pages or files were fetched, and how many had not changed. Raises SourceError when too
    little of a source could be fetched, and BuildError when the pages cannot be kept.
    """
    ready: dict[str, ReadySource] = {}
    coverages: dict[str, dict[str, object]] = {}
    traffic: dict[str, dict[str, int]] = {}
    if pages := [source for source in sources if isinstance(source, WebSource)]:
        # Imported when needed: HTTP takes longer to load than a small project to build.
        from foundry.sources import web

        fetched, found = web.fetch_sources(pages, state, step, policy)
        ready |= fetched
        coverages = {name: coverage.values() for name, coverage in found.items()}
        traffic = {name: coverage.traffic() for name, coverage in found.items()}
    if repositories := [source for source in sources if isinstance(source, GitSource)]:
        copied, counts = git.fetch(repositories, state, step, policy)
        ready |= copied
        traffic |= counts
    return (
        tuple(
            ready[source.name] if isinstance(source, WebSource | GitSource) else source
            for source in sources
        ),
        coverages,
        traffic,
    )


def iterate(source: FetchedSource | FetchedRepository) -> Iterator[RawDocument | Skipped]:
    """Deliver what a source holds, in an order that depends on names alone.

    One document is in memory at a time; an unreadable one is delivered as Skipped.
    """
    if isinstance(source, FetchedRepository):
        return git.iterate(source)
    from foundry.sources import web

    return web.iterate(source)


def stamp(source: ReadySource) -> str | None:
    """Return the stamp of a source that is one file; None if its stamp cannot be relied on."""
    if not isinstance(source, RecordsSource):
        return None
    try:
        return lasting_stamp(source.path.stat())
    except OSError:
        return None


def count_fetched(sources: Sequence[ReadySource]) -> int:
    """Return how many pages and files of all sources have been fetched."""
    pages = sum(len(source.pages) for source in sources if isinstance(source, FetchedSource))
    return pages + sum(len(one.files) for one in sources if isinstance(one, FetchedRepository))


def estimate_rows(source: RecordsSource) -> int:
    """Return roughly how many rows a table has; 0 if it cannot be read."""
    try:
        with source.path.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK_BYTES), b""))
    except OSError:
        return 0
