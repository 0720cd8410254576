"""What an index holds, as its readers see it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Place = dict[str, str | None]
"""Where a copy of a document was found: document_id, source, path, url and title."""

MAX_CHUNK_PLACES = 10
"""Places that a chunk lists; its document lists all."""


GOES_ON = "\u2026"
"""What a title ends in that is only how the text begins."""


def record_fields(record: "ChunkRecord | DocumentRecord | SourceSummary") -> dict[str, Any]:
    """All fields by name, in the order in which they stand on disk; values are not copied."""
    # Not dataclasses.asdict, which copies lists and dictionaries and takes ten times as long.
    return {name: getattr(record, name) for name in record.__slots__}


def telling_title(title: str, document_id: str, section: Sequence[str]) -> tuple[str, ...]:
    """The title of a document unless the section or the text says it too, or it is only the id.

    A record without a title is shown under its beginning, or its id.
    """
    return () if title.endswith(GOES_ON) or title in (*section, document_id) else (title,)


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """A passage, verbatim, with its place: `position` has character and line spans.

    `also_at` are places of copies of its document, at most MAX_CHUNK_PLACES.
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
    also_at: list[Place] = field(default_factory=list)

    def headings(self) -> list[str]:
        """What stands above the text: the document's title, if it tells something, and sections."""
        return [*telling_title(self.title, self.document_id, self.section), *self.section]

    def titled_section(self) -> list[str]:
        """The title, then the section, to be shown in one line."""
        # Most documents carry their title as their first heading as well.
        section = self.section[1:] if self.section[:1] == [self.title] else self.section
        return [self.title, *section]

    def to_json(self) -> dict[str, Any]:
        """All fields, by name."""
        return record_fields(self)


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document; its chunks are the numbers from `chunk_start` up to `chunk_end`.

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
    chunk_start: int
    chunk_end: int
    also_at: list[Place] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """All fields but the chunk range, whose numbers mean nothing outside the index."""
        values = record_fields(self)
        del values["chunk_start"], values["chunk_end"]
        return {**values, "chunks": self.chunk_end - self.chunk_start}


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """A source, with what it gave to the index."""

    name: str
    documents: int
    chunks: int

    def to_json(self) -> dict[str, Any]:
        """All fields, by name."""
        return record_fields(self)


def join_chunks(chunks: Iterable[ChunkRecord]) -> Iterator[str]:
    """The text of chunks that follow each other, piece by piece, nothing of it twice.

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
