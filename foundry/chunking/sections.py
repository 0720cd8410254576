"""A document's outline: stretches of text, each under one heading."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from foundry.records import Document


@dataclass(frozen=True, slots=True)
class Section:
    """From a heading (or the beginning) to the next heading; `body_start` follows the heading."""

    start: int
    body_start: int
    end: int
    heading_path: tuple[str, ...] = ()


def find_sections(document: Document) -> list[Section]:
    """Return the sections of a document in their order; together they cover its whole body.

    A heading without text only ends the sections of its level, as the end of a method does.
    """
    reading = document.reading
    headings = [heading for heading in reading.headings if heading.start >= reading.body_start]
    ends = [heading.start for heading in headings[1:]] + [len(reading.text)]
    first = headings[0].start if headings else len(reading.text)
    sections = [Section(reading.body_start, reading.body_start, first)]
    ancestors: list[tuple[int, str]] = []
    for heading, end in zip(headings, ends, strict=False):
        while ancestors and ancestors[-1][0] >= heading.level:
            ancestors.pop()
        ancestors.append((heading.level, heading.text))
        path = tuple(text for _, text in ancestors if text)
        sections.append(Section(heading.start, heading.end, end, path))
    return join_bare_headings(sections, reading.text)


class PathFinder:
    """Tells the heading path of any place in a document."""

    def __init__(self, document: Document) -> None:
        self._text = document.reading.text
        self._sections = find_sections(document)
        self._starts = [section.start for section in self._sections]

    def path_at(self, place: int) -> tuple[str, ...]:
        """Return the path of the first text at or after a place."""
        while place + 1 < len(self._text) and self._text[place].isspace():
            place += 1
        return self._sections[max(0, bisect_right(self._starts, place) - 1)].heading_path


def join_bare_headings(sections: Sequence[Section], text: str) -> list[Section]:
    """Let a heading without text of its own begin the section below it.

    Only when that section is deeper, so that its path names the bare heading too. A bare heading
    before a sibling stays a section, since its words would be found nowhere else.
    """
    joined: list[Section] = []
    start: int | None = None
    for section, following in zip(sections, [*sections[1:], None], strict=True):
        begin = section.start if start is None else start
        is_bare = not text[section.body_start : section.end].strip()
        depth = len(section.heading_path)
        if is_bare and following and depth < len(following.heading_path):
            start = begin
            continue
        joined.append(Section(begin, section.body_start, section.end, section.heading_path))
        start = None
    return joined
