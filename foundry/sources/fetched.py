"""Sources whose documents lie on this machine, some of them once they have been fetched."""

from dataclasses import dataclass
from pathlib import Path

from foundry.config.git_sources import GitSource
from foundry.config.sources import FolderSource, RecordsSource
from foundry.documents import Skipped
from foundry.urls import Url


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page that the cache holds.

    `url` is the canonical one, `requested` the one it was found by, `final` where redirects led,
    and `content` the one whose bytes are read: `final`, or the page's Markdown twin.
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
class FetchedSource:
    """A source of the web whose pages are in the cache, in `folder`."""

    name: str
    tags: tuple[str, ...]
    folder: Path
    pages: tuple[FetchedPage, ...]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True)
class GitFile:
    """A file of one version: its content by the name of its blob, and when it was last changed."""

    key: str
    blob: str
    url: str | None
    modified: str | None
    version: str | None


@dataclass(frozen=True, slots=True)
class FetchedRepository:
    """A git repository, of which the bare copy `folder` holds what is to be read."""

    source: GitSource
    folder: Path
    files: tuple[GitFile, ...]
    skipped: tuple[Skipped, ...]

    @property
    def name(self) -> str:
        """The name of the source."""
        return self.source.name


ReadySource = FolderSource | RecordsSource | FetchedSource | FetchedRepository
