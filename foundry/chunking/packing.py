"""Splits a range of text into pieces of at most `max_chars`, at the best places.

The range is split into units (blocks, paragraphs, lines of a block that is too long, sentences of a
paragraph or line that is too long), and adjacent units are joined again. Sizes are even: 1,300
characters with a limit of 1,200 become two halves, not a full piece and a remnant.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from foundry.config.file import ChunkingSection
from foundry.documents import Piece, Span
from foundry.runtime.chat.text import find_sentence_ends

ZERO_WIDTH_JOINER = "\u200d"
_EXTENDING = frozenset({"Mn", "Mc", "Me", "Sk", "Cf"})
_PARAGRAPH_END = re.compile(r"\n(?:[ \t]*\n)+")
_LINE_END = re.compile(r"\n")
# A word, with its links and code, which may contain spaces.
_WORD = re.compile(r"(?:[^\s\[`]+|\[[^][\n]{1,200}\]\([^()\s]{1,500}\)|`[^`\n]{1,300}`|\S)++\s*+")
LINK_CHARS = 800
"""More than the length of the longest link that is kept whole."""


CountTokens = Callable[[str], int]


def cut_paragraphs(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the paragraphs of `text[start:end]`, each with the blank lines after it."""
    return _cut_after(_PARAGRAPH_END, text, start, end)


def cut_sentences(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the sentences of `text[start:end]`, each with the space after it."""
    for cut in (*find_sentence_ends(text, start, end), end):
        if cut > start:
            yield Span(start, cut)
            start = cut


def capacity_of(options: ChunkingSection) -> int:
    """Return the size up to which pieces are filled, reserving room for the overlap."""
    return max(options.max_chars - options.overlap, options.max_chars // 2)


@dataclass(frozen=True, slots=True)
class Packer:
    """Splits one text; `blocks` are spans that stay whole if they fit.

    `cut_prose` splits the text between blocks into units; units that are too large are split
    further.
    """

    text: str
    blocks: Sequence[Span]
    options: ChunkingSection
    cut_prose: Callable[[str, int, int], Iterator[Span]] = cut_paragraphs

    @property
    def capacity(self) -> int:
        """Size up to which pieces are filled."""
        return capacity_of(self.options)

    def split(self, start: int, end: int) -> list[Span]:
        """Return overlapping pieces of `start:end`, none above `max_chars`."""
        if end - start <= self.options.max_chars:
            return [Span(start, end)]
        return self.overlap(join(list(self.units(start, end)), self.capacity))

    def units(self, start: int, end: int) -> Iterator[Span]:
        """Yield the units of `start:end`, each at most `max_chars` long."""
        position = start
        index = bisect_left(self.blocks, start, key=lambda block: block.start)
        while index < len(self.blocks) and self.blocks[index].end <= end:
            block = self.blocks[index]
            yield from self._prose(position, block.start)
            yield from self._block(block.start, block.end)
            position = block.end
            index += 1
        yield from self._prose(position, end)

    def overlap(self, pieces: Sequence[Span]) -> list[Span]:
        """Extend each piece but the first, so that it begins with the end of the previous one.

        The overlap begins with a word, cuts no block and exceeds no limit.
        """
        if not self.options.overlap:
            return list(pieces)
        extended = list(pieces[:1])
        for piece in pieces[1:]:
            begin = max(piece.start - self.options.overlap, piece.end - self.options.max_chars)
            begin = max(begin, extended[-1].start)
            extended.append(Span(self._word_start(begin, piece.start), piece.end))
        return extended

    def _word_start(self, begin: int, end: int) -> int:
        index = bisect_left(self.blocks, begin, key=lambda block: block.end)
        if index < len(self.blocks) and self.blocks[index].start < begin < self.blocks[index].end:
            return min(self.blocks[index].end, end)
        if begin == 0 or self.text[begin - 1].isspace():
            return begin
        while begin < end and not self.text[begin].isspace():
            begin += 1
        return begin

    def _prose(self, start: int, end: int) -> Iterator[Span]:
        for unit in self.cut_prose(self.text, start, end):
            if unit.end - unit.start <= self.capacity:
                yield unit
            else:
                yield from self._sentences(unit.start, unit.end)

    def _block(self, start: int, end: int) -> Iterator[Span]:
        if end - start <= self.options.max_chars:
            yield Span(start, end)
            return
        for line in _cut_after(_LINE_END, self.text, start, end):
            if line.end - line.start <= self.capacity:
                yield line
            else:
                yield from self._sentences(line.start, line.end)

    def _sentences(self, start: int, end: int) -> Iterator[Span]:
        for sentence in cut_sentences(self.text, start, end):
            if sentence.end - sentence.start <= self.capacity:
                yield sentence
                continue
            for line in _cut_after(_LINE_END, self.text, sentence.start, sentence.end):
                if line.end - line.start <= self.capacity:
                    yield line
                else:
                    yield from self._words(line.start, line.end)

    def _words(self, start: int, end: int) -> Iterator[Span]:
        while end - start > self.capacity:
            cut = self._cut_evenly(start, end)
            yield Span(start, cut)
            start = cut
        if end > start:
            yield Span(start, end)

    def _cut_evenly(self, start: int, end: int) -> int:
        """Return where the first of the even parts of a line ends, after a word if possible."""
        goal = start + int(even_size(end - start, self.capacity))
        latest = start + self.capacity
        words = _WORD.finditer(self.text, start, min(latest + LINK_CHARS, end))
        ends = takewhile(lambda place: place <= latest, (word.end() for word in words))
        nearest = min(ends, key=lambda place: abs(place - goal), default=None)
        return nearest or _before_grapheme(self.text, start, goal)


def _before_grapheme(text: str, start: int, cut: int) -> int:
    """Move a cut back to the beginning of a grapheme; see Unicode Annex 29.

    Flags and separate letters of Korean syllables are not kept together.
    """
    place = cut
    while text[place - 1] == ZERO_WIDTH_JOINER or unicodedata.category(text[place]) in _EXTENDING:
        place -= 1
        if place == start:
            return cut
    return place


def join(units: Sequence[Span], capacity: int) -> list[Span]:
    """Join adjacent units into pieces of about equal size, none above `capacity`.

    A single unit above `capacity` is left unchanged.
    """
    if not units:
        return []
    end = units[-1].end
    pieces = [units[0]]
    goal = even_size(end - units[0].start, capacity)
    for unit in units[1:]:
        start, size = pieces[-1].start, pieces[-1].end - pieces[-1].start
        joined = unit.end - start
        if joined <= capacity and joined - goal <= goal - size:
            pieces[-1] = Span(start, unit.end)
        else:
            pieces.append(unit)
            goal = even_size(end - unit.start, capacity)
    return pieces


def even_size(length: int, capacity: int) -> float:
    """Return the size of a part if a length is cut into the fewest equal parts up to `capacity`."""
    return length / -(-length // capacity)


def _cut_after(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[Span]:
    for match in pattern.finditer(text, start, end):
        if match.end() > start:
            yield Span(start, match.end())
            start = match.end()
    if end > start:
        yield Span(start, end)


def limit_tokens(
    pieces: Iterator[Piece], packer: Packer, count_tokens: CountTokens, title: str
) -> Iterator[Piece]:
    """Yield the pieces, split further if they exceed `max_tokens` with their headings.

    At most half of the limit is reserved for the title and headings. A single character is not
    split.
    """
    limit = packer.options.max_tokens
    if not limit:
        yield from pieces
        return
    for piece in pieces:
        above = count_tokens("\n".join((title, *piece.heading_path)))
        room = max(limit - above, limit // 2)
        open_pieces = [piece]
        while open_pieces:
            part = open_pieces.pop()
            length, tokens = part.end - part.start, count_tokens(packer.text[part.start : part.end])
            if tokens <= room or length < 2:
                yield part
                continue
            capacity = max(1, min(length * room // tokens, length - 1))
            options = packer.options.model_copy(update={"max_chars": capacity, "overlap": 0})
            smaller = replace(packer, options=options).split(part.start, part.end)
            open_pieces += [
                replace(part, start=span.start, end=span.end) for span in reversed(smaller)
            ]
