"""Finds the sections of a document, and groups them into pieces."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile

from foundry.chunking.packing import join
from foundry.documents import Document, Piece, Span, is_code, is_data

_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, or the beginning of a document, with the text up to the next heading.

    `body_start` is the offset after the heading. `other_titles` is whether the section begins with
    headings that are not in its path.
    """

    start: int
    body_start: int
    end: int
    heading_path: tuple[str, ...] = ()
    other_titles: bool = False


def find_sections(document: Document) -> list[Section]:
    """Return the sections of a document in order; together they cover its whole body.

    A section that is only a title is joined to the next one, if there is one.
    """
    is_prose = not is_data(document) and not is_code(document)
    return join_titles(
        _sections_by_heading(document), document.reading.text, document.title if is_prose else None
    )


def _sections_by_heading(document: Document) -> list[Section]:
    """Return the text before the first heading, and the section of each heading.

    After a heading with an empty text, such as at the end of a method, the section above continues.
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
    return sections


class PathFinder:
    """Finds the heading path of an offset."""

    def __init__(self, document: Document) -> None:
        self._text = document.reading.text
        self._sections = find_sections(document)
        self._starts = [section.start for section in self._sections]

    def path_at(self, place: int) -> tuple[str, ...]:
        """Return the path of the first text at or after an offset."""
        while place + 1 < len(self._text) and self._text[place].isspace():
            place += 1
        return self._sections[max(0, bisect_right(self._starts, place) - 1)].heading_path


def join_titles(sections: Sequence[Section], text: str, title: str | None) -> list[Section]:
    """Join a section that is only a heading, or the document's title, to the next one.

    Without `title`, in data and code, the next section must be deeper, so that its path contains
    the heading too.
    """
    joined: list[Section] = []
    start, others = None, False
    for section, following in zip(sections, [*sections[1:], None], strict=True):
        begin = section.start if start is None else start
        if following:
            is_above = len(section.heading_path) < len(following.heading_path)
            is_empty = not text[section.body_start : section.end].strip()
            if title is not None and _is_title(section, text, title):
                start, others = begin, others or not (is_above and is_empty)
                continue
            if is_above and is_empty:
                start = begin
                continue
        joined.append(replace(section, start=begin, other_titles=others))
        start, others = None, False
    return joined


def _is_title(section: Section, text: str, title: str) -> bool:
    """Return whether the only words of a section are its heading or the title."""
    own, body = text[section.start : section.end], text[section.body_start : section.end]
    if own.split() == title.split():
        return True
    return _WORD.search(own) is not None and _WORD.search(body) is None


class InnerPaths:
    """Finds the headings inside pieces; a heading in several pieces belongs to the first one."""

    def __init__(self, document: Document) -> None:
        # The sections are reversed, so that `pop` returns them in order.
        sections = _sections_by_heading(document)
        self._sections = [each for each in reversed(sections) if each.heading_path]

    def take(self, piece: Piece) -> tuple[tuple[str, ...], ...]:
        """Return the paths of the headings inside a piece that its own path does not contain.

        Pieces must be taken in order.
        """
        found = list[tuple[str, ...]]()
        while self._sections and self._sections[-1].body_start <= piece.end:
            section = self._sections.pop()
            path = section.heading_path
            if section.body_start > piece.start and path != piece.heading_path[: len(path)]:
                found.append(path)
        return tuple(found)


def group_sections(
    sections: Sequence[Section], limit: int, *, depth: int = 0
) -> Iterator[Sequence[Section]]:
    """Yield groups in order: subtrees of at most `limit` characters, as large as possible.

    Where no subtree fits, a group is a single section.

    A section with the same path as an earlier one continues it, like the rest of a class after a
    method. A section with fewer than `depth` headings is yielded alone.
    """
    ends = _find_ends(sections)
    place = 0
    while place < len(sections):
        section, end = sections[place], ends[place]
        fits = sections[end - 1].end - section.start <= limit
        if not fits or len(section.heading_path) < depth:
            end = place + 1
        yield sections[place:end]
        place = end


def _find_ends(sections: Sequence[Section]) -> list[int]:
    """Return, for each section, the number of the first later one that is not below it."""
    ends = [len(sections)] * len(sections)
    opened: list[int] = []
    for number, section in enumerate(sections):
        path = section.heading_path
        while opened and _is_over(sections[opened[-1]].heading_path, path):
            ends[opened.pop()] = number
        opened.append(number)
    return ends


def _is_over(path: tuple[str, ...], following: tuple[str, ...]) -> bool:
    return len(following) < len(path) or (len(following) == len(path) and following != path)


def join_siblings(sections: Sequence[Section], limit: int) -> Iterator[Sequence[Section]]:
    """Yield groups in order, none above `limit` unless it is a single section.

    Groups are subtrees that fit, or adjacent ones below the same heading, of about equal size.
    """
    groups = list(group_sections(sections, limit))
    following = [*(group[0].heading_path for group in groups[1:]), ()]
    parents = [_joins_below(group, path) for group, path in zip(groups, following, strict=True)]
    for _, run in groupby(zip(parents, groups, strict=True), key=lambda each: each[0]):
        siblings = [group for _, group in run]
        spans = [Span(group[0].start, group[-1].end) for group in siblings]
        ends = {span.end for span in join(spans, limit)}
        joined: list[Section] = []
        for group in siblings:
            joined += group
            if group[-1].end in ends:
                yield joined
                joined = []


def _joins_below(group: Sequence[Section], following: tuple[str, ...]) -> tuple[str, ...]:
    """Return the path of the section whose subsections a group can be joined with.

    It is the path above the group, or its own path if it is one section that contains the next.
    """
    path = group[0].heading_path
    return path if len(group) == 1 and path == following[: len(path)] else path[:-1]


def common_path(group: Sequence[Section]) -> tuple[str, ...]:
    """Return the headings above all sections of a group."""
    levels = zip(*(section.heading_path for section in group), strict=False)
    return tuple(level[0] for level in takewhile(lambda level: len({*level}) == 1, levels))
