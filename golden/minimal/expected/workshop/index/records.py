"""The records that an index holds and a server answers with."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

GOES_ON = "\u2026"  # Ends a title that is only the beginning of the text.


def telling_title(title: str, document_id: str, section: Sequence[str]) -> tuple[str, ...]:
    """Return the title of a document, or nothing if it repeats the section, the text or the id."""
    return () if title.endswith(GOES_ON) or title in (*section, document_id) else (title,)


class Record:
    """Base of answers, whose JSON leaves out defaults and the fields that have `exclude`."""

    __slots__ = ()
    # Serializers are made when they are first used: to start takes long enough.
    __pydantic_config__: ClassVar[dict[str, object]] = {"extra": "forbid", "defer_build": True}

    def to_json(self) -> dict[str, Any]:
        """Return the record as values that any writer of JSON takes."""
        record: Any = self
        return {
            one.metadata.get("alias", one.name): _to_json(value)
            for one in fields(record)
            if (value := getattr(self, one.name)) != one.default and not one.metadata.get("exclude")
        }


def _to_json(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [*map(_to_json, value)]
    return value.to_json() if isinstance(value, Record) else value


@dataclass(frozen=True, slots=True)
class Place(Record):
    """Where a copy of a document was found."""

    document_id: str
    source: str
    path: str
    url: str | None
    title: str


# Not frozen, as hits are not: one that is takes six times as long to make.
@dataclass(slots=True)
class ChunkRecord(Record):
    """A passage, verbatim, its character and line spans, and at most 10 places of copies."""

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

    @classmethod
    def from_json(cls, stored: dict[str, Any], *more: Any) -> Self:
        """Make a chunk of a line of the index, which has these fields in order, and `more`."""
        *values, copies = stored.values()
        values += [[Place(**copy) for copy in copies], *more]
        return cls(*values)

    def headings(self) -> list[str]:
        """Return the headings above the text: the title, if it tells something, and sections."""
        return [*telling_title(self.title, self.document_id, self.section), *self.section]

    def titled_section(self) -> list[str]:
        """Return the title and the section, to be shown in one line."""
        section = self.section[1:] if self.section[:1] == [self.title] else self.section
        return [self.title, *section]


@dataclass(frozen=True, slots=True)
class DocumentAnswer(Record):
    """A document, with the number of its chunks and the places of copies that are not indexed."""

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

    @classmethod
    def from_json(cls, stored: dict[str, Any], start: int, end: int) -> Self:
        """Make a document of a line of the index, as `ChunkRecord` does, and its chunks' range."""
        *values, copies = stored.values()
        values += [[Place(**copy) for copy in copies], end - start, start]
        return cls(*values)

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


@dataclass(frozen=True, slots=True)
class SourceList(Record):
    """Every source of the index."""

    sources: list[SourceSummary]


def join_chunks(chunks: Iterable[ChunkRecord]) -> Iterator[str]:
    """Yield the text of chunks without their overlaps; a gap becomes line breaks, or a space."""
    end = line = -1
    for chunk in chunks:
        position = chunk.position
        if 0 <= end < position["start"]:
            yield "\n" * min(position["line_start"] - line, 2) or " "
        yield chunk.text[max(0, end - position["start"]) if end >= 0 else 0 :]
        end = max(end, position["end"])
        line = max(line, position["line_end"])
