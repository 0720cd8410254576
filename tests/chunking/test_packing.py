"""Packing pieces of text into chunks, with sizes computed by hand."""

from itertools import pairwise

import pytest
from configurations import chunking

from foundry.chunking.packing import Packer, join
from foundry.documents import Span


def sizes(spans: list[Span]) -> list[int]:
    assert all(before.end == after.start for before, after in pairwise(spans))
    return [span.end - span.start for span in spans]


def packer(text: str, max_chars: int, overlap: int = 0, *blocks: Span) -> Packer:
    return Packer(text, blocks, False, chunking("recursive", max_chars, overlap))


@pytest.mark.parametrize(
    ("units", "capacity", "joined"),
    [
        ([], 30, []),
        ([40], 30, [40]),
        # Three pieces of 26.7 each: 30 is nearer to that than 20 is.
        ([10] * 8, 30, [30, 30, 20]),
        # Two pieces of 20 each: 24 and 16 are equally near, and the larger one is first.
        ([8] * 5, 30, [24, 16]),
        # Two pieces of 18: no other size is nearer.
        ([9] * 4, 30, [18, 18]),
        ([15, 15], 30, [30]),
        ([15, 16], 30, [15, 16]),
    ],
)
def test_units_are_joined_into_even_pieces(
    units: list[int], capacity: int, joined: list[int]
) -> None:
    spans, position = [], 7
    for size in units:
        spans.append(Span(position, position + size))
        position += size
    pieces = join(spans, capacity)
    assert sizes(pieces) == joined
    assert [pieces[0].start, pieces[-1].end] == [7, position] if units else pieces == []


@pytest.mark.parametrize(
    ("length", "units"),
    [
        # Nine words of ten characters fill a unit of 95; eight units of 95 a window of 760.
        (1200, [90] * 8 + [40] + [90] * 4 + [80]),
        (760, [90] * 8 + [40]),
        (761, [90] * 8 + [40, 1]),
    ],
)
def test_a_long_paragraph_is_cut_in_windows_that_end_with_a_word(
    length: int, units: list[int]
) -> None:
    text = ("wordwords " * 120)[: length - 1] + "x"
    found = list(packer(text, 95).units(0, length))
    assert (sizes(found), found[-1].end) == (units, length)


def test_an_overlap_is_limited_by_the_beginning_and_the_chunk_size() -> None:
    text = "aaaa bbbb cccc"
    pieces = [Span(0, 5), Span(5, 10), Span(10, 14)]
    assert packer(text, 100, 50).overlap(pieces) == [Span(0, 5), Span(0, 10), Span(0, 14)]
    assert packer(text, 100, 5).overlap(pieces) == [Span(0, 5), Span(0, 10), Span(5, 14)]
    assert packer(text, 100, 3).overlap(pieces) == [Span(0, 5), Span(4, 10), Span(9, 14)]
    assert packer(text, 11, 50).overlap(pieces) == [Span(0, 5), Span(0, 10), Span(4, 14)]
    assert packer(text, 100, 0).overlap(pieces) == pieces


def test_an_overlap_cuts_no_block() -> None:
    text = "aaaa bbbb cccc dddd"
    pieces = [Span(0, 10), Span(10, 19)]
    assert packer(text, 100, 7, Span(2, 6)).overlap(pieces)[1].start == 6
    assert packer(text, 100, 7, Span(3, 6)).overlap(pieces)[1].start == 4
