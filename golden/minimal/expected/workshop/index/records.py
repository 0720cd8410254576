"""Records of an index, and their JSON form in responses."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

GOES_ON = "\u2026"  # Stands for omitted text; also ends a title that was cut from the text.

if TYPE_CHECKING:
    from typing import TypedDict

    class Position(TypedDict, total=False):
        """The position of a passage in the text of its document."""

        start: int
        end: int
        line_start: int
        line_end: int
        page: int
        page_label: str
        parent_start: int
        parent_end: int

else:
    # Before Python 3.12, pydantic rejects `typing.TypedDict`.
    Position = dict[str, int | str]


def page_of(position: Position) -> str:
    """Return a passage's page number, and its printed label if that differs; "" without pages."""
    if "page" not in position:
        return ""
    label = position.get("page_label")
    return f"{position['page']} (printed {label})" if label else str(position["page"])


def informative_title(title: str, document_id: str, section: Sequence[str]) -> tuple[str, ...]:
    """Return a tuple of the title, or an empty one if it repeats a heading, the text or the id."""
    return () if title.endswith(GOES_ON) or title in (*section, document_id) else (title,)


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless the count is 1."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def shorten(text: str, limit: int) -> str:
    """Return the text; if it is longer than `limit`, cut it at a space and add an ellipsis."""
    if len(text) <= limit:
        return text
    cut = text[: max(0, limit - len(f" {GOES_ON}"))]
    shown = cut[: cut.rfind(" ") if " " in cut[len(cut) // 2 :] else None].rstrip()
    return f"{shown} {GOES_ON}"


class Record:
    """Base class of responses; the JSON omits defaults and fields marked `exclude`."""

    __slots__ = ()
    # Serializers are created on first use, to keep start-up fast.
    __pydantic_config__: ClassVar[dict[str, object]] = {"extra": "forbid", "defer_build": True}

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain values for a JSON encoder."""
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
    """The place of a copy of a document."""

    document_id: str
    source: str
    path: str
    url: str | None
    title: str


@dataclass(frozen=True, slots=True)
class Passage(Record):
    """A part of a document with its position; `section` has the headings above all of it."""

    text: str
    section: list[str]
    position: Position


# Not frozen, like hits: creating frozen instances takes six times as long.
@dataclass(slots=True)
class ChunkRecord(Record):
    """A chunk: verbatim text, its character and line spans, and the places of up to 100 copies."""

    id: str
    document_id: str
    title: str
    text: str
    section: list[str]
    position: Position
    source: str
    path: str
    url: str | None
    tags: list[str]
    modified: str | None
    also_at: list[Place]

    def headings(self) -> list[str]:
        """Return the headings above the text: the title if it is informative, then the sections."""
        return [*informative_title(self.title, self.document_id, self.section), *self.section]

    def titled_section(self) -> list[str]:
        """Return the title, then the headings, without a first heading that equals the title."""
        section = self.section[1:] if self.section[:1] == [self.title] else self.section
        return [self.title, *section]
