"""Declarations of readers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

from foundry.documents import Reading
from foundry.documents.reasons import AnyReason
from foundry.readers.accounting.containers import own_text


class UnreadableError(Exception):
    """A document cannot be read by its reader."""

    def __init__(self, reason: AnyReason, detail: str = "") -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Reader:
    """A text format: its names and media types, and how it is read.

    `version` is part of every document's `reader`, and must change whenever the reading of the same
    bytes changes. `media_types` maps a lower-case suffix, or a whole file name, to a media type.
    `read` takes normalised text and may raise UnreadableError. `outline` finds headings and blocks
    in the same text, as UTF-8, in a worker process; if that fails, those of `read` are kept.
    `texts` returns the text for people, extracted independently of `read`; `with_targets` is
    whether that includes the targets of links, as in markup.
    """

    version: str
    media_types: dict[str, str]
    read: Callable[[str], Reading]
    outline: "FileReader | None" = None
    texts: Callable[[str], Iterable[str]] = own_text
    with_targets: bool = True


@dataclass(frozen=True, slots=True)
class FileReader:
    """A format with an untrusted parser, whose bytes are read in a worker process.

    `kinds` maps results of `sniffing.document_kind` to media types; the file's name does not matter
    then. `media_types` is as in a Reader, for formats that look like text. `read` imports its
    libraries itself, so that only workers load them, and may raise anything. `needs` are modules
    that Foundry does not require; `extra` installs them. `with_ocr` is a variant that also reads
    text in pictures. `texts` returns the text for people, extracted independently of `read`,
    which calls `note_source` for any other text.
    """

    version: str
    kinds: dict[str, str]
    media_types: dict[str, str]
    read: Callable[[bytes], Reading]
    needs: tuple[str, ...] = ()
    extra: str = ""
    with_ocr: "FileReader | None" = None
    texts: Callable[[bytes], Iterable[str]] | None = None
    with_targets: bool = False

    def is_installed(self) -> bool:
        """Return whether the modules that the reader needs can be imported."""
        return all(map(_is_importable, self.needs))


@cache
def _is_importable(module: str) -> bool:
    return find_spec(module) is not None
