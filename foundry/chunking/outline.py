"""Neighbouring sections taken together: a section with all that is below it, where that fits."""

from collections.abc import Iterator, Sequence

from foundry.chunking.sections import Section


def group_sections(
    sections: Sequence[Section], limit: int, *, depth: int = 0
) -> Iterator[Sequence[Section]]:
    """Groups in order: the largest subtrees of at most `limit` characters, else single sections.

    A section goes on where its path comes again, as a class does after a method. No group begins
    above `depth` headings, a single section aside.
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
    """For each section the number of the first one after it that is not below it."""
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
