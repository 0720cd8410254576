"""What an index holds, as its readers see it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, ClassVar

GOES_ON = "\u2026"
"""What a title ends in that is only how the text begins."""


def telling_title(title: str, document_id: str, section: Sequence[str]) -> tuple[str, ...]:
    """Return the title of a document unless the section or the text says it too, or it is only the
    id.

    A record without a title is shown under its beginning, or its id.
    """
    return () if title.endswith(GOES_ON) or title in (*section, document_id) else (title,)


# Most values are of these types, and this is asked of each.
_PLAIN = frozenset({str, int, float, bool, dict, type(None)})


class Record:
    """Base of dataclasses that are answered: JSON has their fields, under their names or `alias`.

    The framework derives the schemas of HTTP and MCP from the same fields. Two things are left out
    of JSON: a field that holds its default, and one whose metadata say `exclude`.
    """

    __slots__ = ()
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    def to_json(self) -> dict[str, Any]:
        """Return the record as values that any writer of JSON takes."""
        kind: Any = type(self)
        return {
            name: value if type(value) in _PLAIN else _to_json(value)
            for attribute, name, default in _fields_of(kind)
            if (value := getattr(self, attribute)) != default
        }


@cache
def _fields_of(kind: Any) -> tuple[tuple[str, str, object], ...]:
    """Attribute, name in JSON and default of each field."""
    return tuple(
        (one.name, one.metadata.get("alias", one.name), one.default)
        for one in fields(kind)
        if not one.metadata.get("exclude")
    )


def _to_json(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, (list, tuple)):
        return [_to_json(part) for part in value]
    return value


@dataclass(frozen=True, slots=True)
class Place(Record):
    """Where a copy of a document was found."""

    document_id: str
    source: str
    path: str
    url: str | None
    title: str


@dataclass(frozen=True, slots=True)
class ChunkRecord(Record):
    """A passage, verbatim, with its place: `position` has character and line spans.

    `also_at` are places of copies of its document, 10 at most; the document lists all.
    """

    id: str
    document_id: str
    title: str
    text: str
    section: list[str]
    position: dict[str, int]
    source: str
    path: str
    url: str | None
    tags: list[str]
    modified: str | None
    also_at: list[Place]

    def headings(self) -> list[str]:
        """Return what stands above the text: a title that tells something, then sections."""
        return [*telling_title(self.title, self.document_id, self.section), *self.section]

    def titled_section(self) -> list[str]:
        """Return the title, then the section, to be shown in one line."""
        # Most documents carry their title as their first heading as well.
        section = self.section[1:] if self.section[:1] == [self.title] else self.section
        return [self.title, *section]


@dataclass(frozen=True, slots=True)
class DocumentAnswer(Record):
    """A document, with the number of its chunks.

    `also_at` are the places of its copies, which are not in the index themselves.
    """

    id: str
    title: str
    source: str
    path: str
    url: str | None
    media_type: str
    sha256: str
    bytes: int
    modified: str | None
    tags: list[str]
    metadata: dict[str, str]
    reader: str
    also_at: list[Place]
    chunks: int


@dataclass(frozen=True, slots=True)
class DocumentRecord(DocumentAnswer):
    """A document as the index knows it: its chunks follow each other from `chunk_start` on."""

    chunk_start: int = field(metadata={"exclude": True})

    @property
    def chunk_end(self) -> int:
        """The number after that of the last chunk."""
        return self.chunk_start + self.chunks


@dataclass(frozen=True, slots=True)
class SourceSummary(Record):
    """A source, with what it gave to the index."""

    name: str
    documents: int
    chunks: int


def join_chunks(chunks: Iterable[ChunkRecord]) -> Iterator[str]:
    """Yield the text of chunks that follow each other, piece by piece, nothing of it twice.

    Where chunks overlap, the later one gives only what is new. What lay between two chunks and is
    in neither (white space, mostly) becomes as many line breaks, at most two, or a space.
    """
    end = line = -1
    for chunk in chunks:
        start = chunk.position["start"]
        if end >= 0:
            lines = chunk.position["line_start"] - line
            if start > end:
                yield "\n" * min(lines, 2) if lines > 0 else " "
            text = chunk.text[max(0, end - start) :]
        else:
            text = chunk.text
        yield text
        end = max(end, chunk.position["end"])
        line = max(line, chunk.position["line_end"])
