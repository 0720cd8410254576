"""Inserts repeated text into documents: the sentence before a list, for chunks with its items.

Insertions are recorded in `Reading.repeated`, so that line numbers and offsets do not count them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from foundry.documents import Reading, Span


def insert(reading: Reading, texts: Mapping[int, str]) -> Reading:
    """Return the reading with `texts` inserted at their offsets, and later offsets shifted.

    Blocks and lists are split before each insertion inside them.
    """
    offsets = sorted(texts)
    moved = [0, *accumulate(len(texts[offset]) for offset in offsets)]

    def move(span: Span) -> Span:
        start, end = bisect_right(offsets, span.start), bisect_left(offsets, span.end)
        return Span(span.start + moved[start], span.end + moved[end])

    ends = [0, *offsets, len(reading.text)]
    pieces = [reading.text[start:end] for start, end in pairwise(ends)]
    text = pieces[0] + "".join(
        texts[offset] + piece for offset, piece in zip(offsets, pieces[1:], strict=True)
    )
    inserted = [
        Span(offset + before, offset + after)
        for offset, (before, after) in zip(offsets, pairwise(moved), strict=True)
    ]
    borders = [span.start for span in inserted]
    return replace(
        reading,
        text=text,
        headings=tuple(
            replace(heading, start=span.start, end=span.end)
            for heading in reading.headings
            for span in [move(Span(heading.start, heading.end))]
        ),
        blocks=tuple(_cut_at(borders, map(move, reading.blocks), text)),
        lists=tuple(_cut_at(borders, map(move, reading.lists), text)),
        pages=tuple(move(Span(page, page)).start for page in reading.pages),
        repeated=tuple(sorted([*map(move, reading.repeated), *inserted], key=_start)),
    )


def _start(span: Span) -> int:
    return span.start


def _cut_at(borders: Sequence[int], spans: Iterable[Span], text: str) -> Iterator[Span]:
    """Yield the spans, cut at the borders inside them, without white space at the cuts."""
    for span in spans:
        first, last = bisect_right(borders, span.start), bisect_left(borders, span.end)
        for start, end in pairwise([span.start, *borders[first:last], span.end]):
            part = text[start:end]
            begin = start if start == span.start else end - len(part.lstrip())
            yield Span(begin, end if end == span.end else start + len(part.rstrip()))


class Origins:
    """Maps offsets in a document with insertions to offsets in the document without them."""

    def __init__(self, reading: Reading) -> None:
        self._starts = [span.start for span in reading.repeated]
        self._ends = [span.end for span in reading.repeated]
        self._before = [0, *accumulate(span.end - span.start for span in reading.repeated)]
        lines, at = [0], -1
        while (at := reading.text.find("\n", at + 1)) >= 0:
            if not self._holds(at):
                lines.append(self._original(at) + 1)
        self._lines = lines

    def span_of(self, start: int, end: int) -> Span:
        """Return the original span.

        If it begins with a repetition, it has the same length, and overlaps with the text before.
        """
        place = bisect_right(self._starts, start) - 1
        repeated = max(0, self._ends[place] - start) if place >= 0 else 0
        return Span(max(0, self._original(start + repeated) - repeated), self._original(end))

    def line_of(self, offset: int) -> int:
        """Return the line number of an offset, from 1."""
        return bisect_right(self._lines, self._original(offset))

    def _holds(self, offset: int) -> bool:
        place = bisect_right(self._starts, offset) - 1
        return place >= 0 and offset < self._ends[place]

    def _original(self, offset: int) -> int:
        place = bisect_right(self._starts, offset)
        before = self._before[place]
        within = max(0, self._ends[place - 1] - offset) if place else 0
        return offset - before + within
