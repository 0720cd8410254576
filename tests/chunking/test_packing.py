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
    return Packer(text, blocks, chunking("recursive", max_chars, overlap))


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
        # Three pieces of 9.3 each; the first has only 8, so the others have 10.
        ([8, 8] + [1] * 12, 10, [8, 10, 10]),
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


def cut(text: str, max_chars: int) -> list[str]:
    return [text[span.start : span.end] for span in packer(text, max_chars).units(0, len(text))]


def test_a_long_paragraph_is_cut_into_sentences() -> None:
    text = "It doesn't stop. The owner's *key* isn't\n`lost`. See [that page](x). So it's safe."
    sentences = ["It doesn't stop. ", "The owner's *key* isn't\n`lost`. ", "See [that page](x). "]
    assert cut(text, 60) == [*sentences, "So it's safe."]


def test_a_long_sentence_is_cut_into_lines_and_a_long_line_into_even_parts() -> None:
    lines = "first line\nsecond line, which is longer, so two even parts\n"
    assert cut(lines, 40) == [
        "first line\n",
        "second line, which is ",
        "longer, so two even parts\n",
    ]


@pytest.mark.parametrize("whole", ["[a page with a name](https://a.b/c_d)", "`git log --all -p`"])
def test_links_and_code_in_a_long_line_stay_whole(whole: str) -> None:
    parts = cut(f"{'word ' * 9}{whole} {'word ' * 11}", 60)
    assert len(parts) == 3 and [part for part in parts if whole in part]


@pytest.mark.parametrize(
    "grapheme",
    [
        "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}\u200d\N{BOY}",
        "e\u0301",
        "\U0001f44d\U0001f3fd",
        "\u1100",
    ],
)
def test_a_word_above_the_limit_is_cut_evenly_between_graphemes(grapheme: str) -> None:
    text = "a b " + grapheme * 400
    first, *parts = cut(text, 95)
    assert (first, "".join(parts)) == ("a b ", grapheme * 400)
    assert all(part == grapheme * (len(part) // len(grapheme)) for part in parts)
    assert max(map(len, parts)) <= 95 and min(map(len, parts)) > 70


def test_marks_without_a_letter_are_cut_at_the_limit() -> None:
    assert [*map(len, cut("\u0301" * 200, 100))] == [100, 100]


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
