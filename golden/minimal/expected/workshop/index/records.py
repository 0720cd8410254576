"""The records that an index holds and a server answers with."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

GOES_ON = "\u2026"  # A title that is only the beginning of the text ends with it.


def informative_title(title: str, document_id: str, section: Sequence[str]) -> tuple[str, ...]:
    """Return the title of a document, or nothing if it repeats the section, the text or the id."""
    return () if title.endswith(GOES_ON) or title in (*section, document_id) else (title,)


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless there is one."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


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


@dataclass(frozen=True, slots=True)
class Passage(Record):
    """Some text of a document, with its place; `section` holds the headings above all of it."""

    text: str
    section: list[str]
    position: dict[str, int]


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

    def headings(self) -> list[str]:
        """Return the headings above the text: the title, if it tells something, and sections."""
        return [*informative_title(self.title, self.document_id, self.section), *self.section]

    def titled_section(self) -> list[str]:
        """Return the title and the section, to be shown in one line."""
        section = self.section[1:] if self.section[:1] == [self.title] else self.section
        return [self.title, *section]
