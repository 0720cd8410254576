"""Sources that have been brought to this machine, so that their documents can be delivered."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from foundry.config.sources import FolderSource, RecordsSource
from foundry.documents import RawDocument, Skipped
from foundry.urls import Url


class Fetched(Protocol):
    """A source of which everything has been fetched."""

    @property
    def name(self) -> str:
        """The name of the source."""
        ...

    def __len__(self) -> int:
        """Return how many files or pages were fetched."""
        ...

    def __iter__(self) -> Iterator[RawDocument | Skipped]:
        """Deliver the documents one by one, in an order that depends on names alone.

        One that cannot be read is delivered as Skipped.
        """
        ...


class Delivery(NamedTuple):
    """What fetching some sources gave, by their names.

    `traffic` counts what was fetched and what had not changed; `coverage` says what became of the
    urls, the same whatever was kept from build to build.
    """

    sources: Mapping[str, Fetched]
    traffic: Mapping[str, dict[str, int]] = {}
    coverage: Mapping[str, dict[str, object]] = {}


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


ReadySource = FolderSource | RecordsSource | Fetched
