"""The passage around a chunk: what is to be read where small chunks are found."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Passage:
    """Some text of a document, with its place; `section` holds the headings above all of it."""

    text: str
    section: list[str]
    position: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """All fields, by name."""
        return {"text": self.text, "section": self.section, "position": self.position}
