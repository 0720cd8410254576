"""What a reader is."""

from collections.abc import Callable
from dataclasses import dataclass

from foundry.records import Reading


class UnreadableError(Exception):
    """A document that its reader gives up on; `reason` is a short constant phrase."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Reader:
    """One format: which names and media types it answers to, and how its text is read.

    `version` goes into every document's `reader` and changes whenever the same bytes give another
    reading. `media_types` maps a lower-case file suffix, or a whole file name, to a media type.
    `read` takes normalised text and may raise UnreadableError.
    """

    version: str
    media_types: dict[str, str]
    read: Callable[[str], Reading]
