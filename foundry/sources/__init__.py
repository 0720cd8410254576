"""Where bytes come from: every source delivers raw documents, and says what it left out."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from foundry.config.sources import FolderSource, RecordsSource, Source
from foundry.config.web_sources import WebSource
from foundry.progress import StartStep
from foundry.records import RawDocument, Skipped, Stamp, Unchanged
from foundry.sources import folder, records
from foundry.sources.fetched import ReadySource
from foundry.sources.stamps import IsUnchanged, lasting_stamp, nothing_is_known


def fetch_all(
    sources: Sequence[Source], state: Path, step: StartStep
) -> tuple[tuple[ReadySource, ...], dict[str, dict[str, object]], dict[str, dict[str, int]]]:
    """Fetch what is not on this machine; nothing is asked of the network after this.

    Args:
        sources: As configured.
        state: The folder in which pages are kept from build to build.
        step: Begins a step of work that is worth showing.

    Returns:
        The sources to give to `iterate`; by the names of those of the web what became of their
        urls, which is the same whatever was kept; and how many pages were fetched, and how many
        had not changed.

    Raises:
        SourceError: When too little of a source could be fetched.
        BuildError: When the pages cannot be kept.
    """
    local = [source for source in sources if not isinstance(source, WebSource)]
    if len(local) == len(sources):
        return tuple(local), {}, {}
    # Imported when needed: HTTP takes longer to load than a small project to build.
    from foundry.sources import web

    ready, coverages = web.fetch_sources(sources, state, step)
    return (
        ready,
        {name: coverage.values() for name, coverage in coverages.items()},
        {name: coverage.traffic() for name, coverage in coverages.items()},
    )


def iterate(
    source: ReadySource, is_unchanged: IsUnchanged = nothing_is_known
) -> Iterator[RawDocument | Unchanged | Skipped]:
    """Deliver a source's documents one by one, in an order that depends on their names alone.

    One document is in memory at a time. A source that can tell without opening a document whether
    it has changed asks `is_unchanged`, and delivers Unchanged for what is known. Raises SourceError
    when the source as a whole cannot be read; an unreadable part of it is delivered as Skipped.
    """
    if isinstance(source, FolderSource):
        return folder.iterate(source, is_unchanged)
    if isinstance(source, RecordsSource):
        return records.iterate(source)
    from foundry.sources import web

    return web.iterate(source)


def stamp(source: ReadySource) -> Stamp | None:
    """Return the stamp of a source that is one file; None if it has none that will last."""
    if not isinstance(source, RecordsSource):
        return None
    try:
        return lasting_stamp(source.path.stat())
    except OSError:
        return None
