"""The declaration of a reader."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

from foundry.documents import Reading
from foundry.documents.reasons import AnyReason
from foundry.readers.accounting.containers import own_text


class UnreadableError(Exception):
    """A document that its reader gives up on."""

    def __init__(self, reason: AnyReason, detail: str = "") -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Reader:
    """A format that is text: which names and media types it answers to, and how it is read.

    `version` goes into every document's `reader` and changes whenever the same bytes give another
    reading. `media_types` maps a lower-case file suffix, or a whole file name, to a media type.
    `read` takes normalised text and may raise UnreadableError. `outline` finds headings and blocks
    in the same text, as UTF-8, in a worker process; where that fails, those of `read` are kept.
    `texts` are what the same text holds for people, found independently of `read`.
    """

    version: str
    media_types: dict[str, str]
    read: Callable[[str], Reading]
    outline: "FileReader | None" = None
    texts: Callable[[str], Iterable[str]] = own_text


@dataclass(frozen=True, slots=True)
class FileReader:
    """A format whose parser must not be trusted: its bytes are read in a worker process.

    `kinds` maps what `sniffing.document_kind` calls the bytes to a media type, whatever their name
    is; `media_types` is as in a Reader, for formats that only their names tell from text. `read`
    imports its libraries itself, so that only workers load them, and may raise anything.
    `needs` are the modules that Foundry itself does not require; `extra` installs them.
    `with_ocr` reads the format where text is read from pictures too. `texts` are what the bytes
    hold for people, found independently of `read`; without it, `read` calls `note_source`.
    """

    version: str
    kinds: dict[str, str]
    media_types: dict[str, str]
    read: Callable[[bytes], Reading]
    needs: tuple[str, ...] = ()
    extra: str = ""
    with_ocr: "FileReader | None" = None
    texts: Callable[[bytes], Iterable[str]] | None = None

    def is_installed(self) -> bool:
        """Return whether every module that the reader needs can be imported."""
        return all(map(_is_importable, self.needs))


@cache
def _is_importable(module: str) -> bool:
    return find_spec(module) is not None
