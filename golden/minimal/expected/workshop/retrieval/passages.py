"""Parent passages around small chunks.

The index stores the span of each chunk's parent. Chunks of a parent are consecutive, so the passage
is joined from their texts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from ..index.documents import Documents, join_chunks
from ..index.reader import Index
from ..index.records import ChunkRecord, Passage, Position


def find_passages(index: Index, chunks: Sequence[ChunkRecord]) -> list[Passage | None]:
    """Return the parent passage of each chunk; None for chunks without one."""
    sides = [_sides_of(index, chunk) for chunk in chunks]
    _read_siblings(index, [*chain.from_iterable(sides)])
    return [
        (
            _join([*reversed(around[0].siblings), chunk, *around[1].siblings], chunk)
            if around
            else None
        )
        for chunk, around in zip(chunks, sides, strict=True)
    ]


@dataclass(slots=True)
class _Side:
    """The chunks before or after a chunk in its document.

    `left` are the numbers of chunks still to read, nearest first. `reach` is an estimate of how
    many must be read: those with the same parent, and the first with another.
    """

    parent: int
    left: range
    reach: int
    siblings: list[ChunkRecord] = field(default_factory=list)

    def take(self, neighbours: Sequence[ChunkRecord]) -> None:
        """Add the next neighbours with the same parent; stop at the first with another."""
        same = [one.position.get("parent_start") == self.parent for one in neighbours]
        count = [*same, False].index(False)
        self.siblings += neighbours[:count]
        self.left = self.left[count:] if all(same) else range(0)


def _sides_of(index: Index, chunk: ChunkRecord) -> list[_Side]:
    """Return the two sides of a chunk, before and after it; none if it has no parent."""
    position, numbers = chunk.position, index.chunk_lines.numbers(chunk.id)
    if "parent_start" not in position:
        return []
    if len(numbers) > 1:  # Hashes of ids can collide.
        read = zip(numbers, index.chunks(numbers), strict=True)
        numbers = [number for number, one in read if one.id == chunk.id]
    if not numbers:
        return []
    [number], firsts = numbers, index.part(Documents.open).first_chunks
    document = int(firsts.searchsorted(number, "right"))
    first, end = firsts[document - 1 : document + 1].tolist()
    parent, length = position["parent_start"], max(1, position["end"] - position["start"])
    before, after = position["start"] - parent, position["parent_end"] - position["end"]
    return [
        _Side(parent, range(number - 1, first - 1, -1), 1 + before // length),
        _Side(parent, range(number + 1, end), 1 + after // length),
    ]


def _read_siblings(index: Index, sides: Sequence[_Side]) -> None:
    """Read the siblings on both sides of all chunks at once."""
    while sides := [side for side in sides if side.left]:
        asked = [side.left[: side.reach] for side in sides]
        read = index.chunks(chain.from_iterable(asked))
        for side, numbers in zip(sides, asked, strict=True):
            side.take([*islice(read, len(numbers))])


def _join(chunks: Sequence[ChunkRecord], chunk: ChunkRecord) -> Passage:
    """Join all chunks of a parent into the passage around the chunk that was found."""
    position: Position = {
        **chunks[0].position,
        "start": chunk.position["parent_start"],
        "end": chunk.position["parent_end"],
        "line_end": chunks[-1].position["line_end"],
    }
    del position["parent_start"], position["parent_end"]
    return Passage("".join(join_chunks(chunks)), _common_section(chunks), position)


def _common_section(chunks: Iterable[ChunkRecord]) -> list[str]:
    """Return the headings that all chunks share."""
    common: list[str] = []
    for headings in zip(*(chunk.section for chunk in chunks), strict=False):
        if len(set(headings)) > 1:
            break
        common.append(headings[0])
    return common
