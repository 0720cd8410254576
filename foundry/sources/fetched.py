"""Sources whose documents lie on this machine, those of the web once they have been fetched."""

from dataclasses import dataclass
from pathlib import Path

from foundry.config.sources import FolderSource, RecordsSource
from foundry.records import Skipped


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page in the cache: its canonical url, and the url whose bytes are to be read."""

    url: str
    content: str
    media_type: str | None
    charset: str | None
    modified: str | None


@dataclass(frozen=True, slots=True)
class FetchedSource:
    """A source of the web whose pages are in the cache, in `folder`."""

    name: str
    tags: tuple[str, ...]
    folder: Path
    pages: tuple[FetchedPage, ...]
    skipped: tuple[Skipped, ...]


ReadySource = FolderSource | RecordsSource | FetchedSource
