"""Documents and their parts, from sources through readers and chunkers to the index.

Offsets count characters of `Document.text`, half open (`text[start:end]`); lines count from 1,
inclusive.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from operator import attrgetter
from typing import Any, Self

from foundry.documents.left_out import LeftOut, WordCounts
from foundry.documents.reasons import AnyReason
from foundry.runtime.index.records import Position

OCR_PAGES = 50
"""Maximum number of a document's pages that are read from pictures, unless the source sets it."""


@dataclass(frozen=True, slots=True)
class RawDocument:
    """The bytes of a document as a source delivers them, with data about the document.

    Attributes:
        key: The document's stable name within its source, which determines the ids: a path relative
            to the source's root, or a record's id.
        path: `key` in printable form.
        metadata_keys: Keys that the content may add to `metadata`.
        unread: Texts that came with the document and are not indexed, by the name of their column.
        stamp: A value that changes with the content; None if the source has no reliable one.
        charset: The character set that a server declared.
        modified_elsewhere: A date for documents without one in `modified` and in the content.
        ocr: Whether text in pictures is read too, on at most `ocr_pages` pages.
    """

    source: str
    key: str
    path: str
    content: bytes
    media_type: str | None = None
    id: str | None = None
    title: str | None = None
    url: str | None = None
    tags: tuple[str, ...] = ()
    modified: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    metadata_keys: tuple[str, ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict)
    stamp: str | None = None
    charset: str | None = None
    modified_elsewhere: str | None = None
    ocr: bool = False
    ocr_pages: int = OCR_PAGES

    def describe(self) -> dict[str, Any]:
        """Return everything about the document except content and stamp, for JSON."""
        names, values_of = _described()
        described = dict(zip(names, values_of(self), strict=True))
        return {**described, "metadata": dict(self.metadata), "unread": dict(self.unread)}

    @classmethod
    def from_description(cls, described: Mapping[str, Any], content: bytes) -> Self:
        """Return the document with this description, without its stamp."""
        lists = {name: tuple(described[name]) for name in ("tags", "metadata_keys")}
        return cls(**{**described, **lists}, content=content)


@cache
def _described() -> tuple[list[str], Callable[[RawDocument], tuple[Any, ...]]]:
    names = [each.name for each in fields(RawDocument) if each.name not in {"content", "stamp"}]
    return names, attrgetter(*names)


@dataclass(frozen=True, slots=True)
class Skipped:
    """An input that is not in the index, with the reason."""

    source: str
    path: str
    reason: AnyReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a document that its owner should know: kind, first line and count.

    `line` counts from 1 in the indexed text; it is None if it is not known.
    """

    kind: str
    line: int | None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Place:
    """The place of another copy of an indexed document."""

    document_id: str
    source: str
    path: str
    url: str | None
    title: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; `start:end` spans its lines in the document's text."""

    level: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Span:
    """A range of text that should stay whole if it fits into a chunk: a code fence, a table."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written: `target` is a relative path, a url or a wikilink's page name.

    `kind` is inline, reference, autolink, html or wikilink.
    """

    target: str
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of one document, as a reader found it in its bytes.

    Attributes:
        text: The normalised text that every offset refers to.
        aliases: Other names that wikilinks may use.
        body_start: The offset at which front matter ends and content begins.
        pages: The offsets of page, slide or sheet 1, 2, ..., for formats that have them.
        page_labels: The printed labels of pages, "" where the label is the number.
        language: The language that the content states.
        metadata: Metadata from the content.
        left_out: Words that were left out on purpose.
        unaccounted: Words that were lost.
        words: Counts of all words by outcome.
        hidden: Counts of text that people do not see, which is not in `text`.
        guessed: The character sets that were guessed, since the bytes did not declare them.
        damaged: The parts that could not be read, such as `page 3`.
        lacking: The extra of Foundry that would find headings and blocks.
        seen: The pages or pictures, from 1, whose text was read from a picture.
        unsure: The number of lines of `seen` that may be misread.
        looked_at: The number of pages and pictures in which text was looked for.
        unseen: The number of scanned pages and pictures that were not read.
        is_hurried: Whether time ran out before all pictures were read.
        lists: Lists that chunking keeps whole, with their stems, if they fit.
        repeated: Stems that chunking repeated in `text` because their list was split.
    """

    text: str
    title: str | None = None
    headings: tuple[Heading, ...] = ()
    blocks: tuple[Span, ...] = ()
    links: tuple[Link, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    modified: str | None = None
    body_start: int = 0
    pages: tuple[int, ...] = ()
    page_labels: tuple[str, ...] = ()
    language: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()
    unaccounted: tuple[str, ...] = ()
    words: WordCounts | None = None
    hidden: tuple[Finding, ...] = ()
    guessed: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    lacking: str = ""
    seen: tuple[int, ...] = ()
    unsure: int = 0
    looked_at: int = 0
    unseen: int = 0
    is_hurried: bool = False
    lists: tuple[Span, ...] = ()
    repeated: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A document after reading: identity from the source, content from the reader.

    `modified` is an ISO 8601 date or date-time from the source or the content, `sha256` and `bytes`
    describe the raw input, `replaced` counts characters that could not be decoded. `findings` are
    possible secrets; `also_at` lists the places of its copies.
    """

    id: str
    source: str
    path: str
    url: str | None
    title: str
    media_type: str
    reader: str
    sha256: str
    bytes: int
    replaced: int
    tags: tuple[str, ...]
    modified: str | None
    metadata: Mapping[str, str]
    reading: Reading
    findings: tuple[Finding, ...] = ()
    also_at: tuple[Place, ...] = ()


def is_code(document: Document) -> bool:
    """Return whether a document is source code, with definitions as headings."""
    return document.reader.startswith("code-")


def without_words(reading: Reading) -> Reading:
    """Return a reading without the lists of words left out or lost, but with their counts."""
    return replace(reading, left_out=(), unaccounted=())


_DATA_READERS = frozenset(("json", "yaml", "toml"))


def is_data(document: Document) -> bool:
    """Return whether a document is structured data, with keys as headings."""
    return document.reader.partition("/")[0] in _DATA_READERS


@dataclass(frozen=True, slots=True)
class Piece:
    """A range of a document that will become a chunk.

    `parent` is the larger range to read instead, if the strategy has parents.
    """

    start: int
    end: int
    heading_path: tuple[str, ...] = ()
    parent: Span | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A verbatim passage: `text == document.reading.text[start:end]`.

    `page` is the page, slide or sheet on which it begins, from 1, if its format has them; `parent`
    is the larger passage to read instead, if the strategy has parents. `inner_paths` are the paths
    of the headings inside the chunk. `origin` is its span in the text without repeated stems, to
    which lines and `parent` refer.
    """

    id: str
    document_id: str
    text: str
    heading_path: tuple[str, ...]
    start: int
    end: int
    line_start: int
    line_end: int
    page: int | None = None
    parent: Span | None = None
    inner_paths: tuple[tuple[str, ...], ...] = ()
    origin: Span | None = None

    def position(self, page_labels: Sequence[str] = ()) -> Position:
        """Return the position of the chunk, as an index stores it."""
        origin = self.origin or self
        position: Position = {
            "start": origin.start,
            "end": origin.end,
            "line_start": self.line_start,
            "line_end": self.line_end,
        }
        if self.page is not None:
            position["page"] = self.page
            if label := "".join(page_labels[self.page - 1 : self.page]):
                position["page_label"] = label
        if self.parent is not None:
            position["parent_start"] = self.parent.start
            position["parent_end"] = self.parent.end
        return position
