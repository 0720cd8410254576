"""Fetched sources, whose documents can be delivered without the network."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from foundry.config.sources import FolderSource, RecordsSource
from foundry.documents import RawDocument, Skipped
from foundry.urls import Url


class Fetched(Protocol):
    """A source that was fetched completely."""

    @property
    def name(self) -> str:
        """The name of the source."""
        ...

    def __len__(self) -> int:
        """Return the number of files or pages."""
        ...

    def __iter__(self) -> Iterator[RawDocument | Skipped]:
        """Deliver the documents in an order that only depends on names.

        Unreadable ones are delivered as Skipped.
        """
        ...


class Delivery(NamedTuple):
    """The results of fetching, by source.

    `traffic` counts fetched and unchanged items; `coverage` reports the urls, independently of the
    cache.
    """

    sources: Mapping[str, Fetched]
    traffic: Mapping[str, dict[str, int]] = {}
    coverage: Mapping[str, dict[str, object]] = {}


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A cached page.

    `url` is the canonical url, `requested` the url that was found, `final` the url after redirects.
    `content` is the url of the text that is read: `final`, or the url of the Markdown version.
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
        """True if the page's Markdown version is read."""
        return self.content != self.final


ReadySource = FolderSource | RecordsSource | Fetched
