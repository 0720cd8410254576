"""Where bytes come from: every source delivers raw documents, and says what it left out."""

from collections.abc import Iterator

from foundry.config_sources import FolderSource, Source
from foundry.records import RawDocument, Skipped
from foundry.sources import folder, records


def iterate(source: Source) -> Iterator[RawDocument | Skipped]:
    """Deliver a source's documents one by one, in an order that depends on their names alone.

    One document is in memory at a time. Raises SourceError when the source as a whole cannot be
    read; an unreadable part of it is delivered as Skipped.
    """
    if isinstance(source, FolderSource):
        return folder.iterate(source)
    return records.iterate(source)
