"""Citations in streamed text: checked, rewritten, and never torn apart."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.runtime.chat.safe_text import CitationFilter


def filtered(*pieces: str, passages: int = 3) -> tuple[str, list[int]]:
    citations = CitationFilter(passages)
    text = "".join(map(citations.feed, pieces)) + citations.finish()
    return text, citations.cited


@pytest.mark.parametrize(
    ("text", "expected", "cited"),
    [
        ("So it is. [2]", "So it is. [2]", [2]),
        ("So it is [9].", "So it is.", []),
        ("Both [1, 3], and [3; 9].", "Both [1][3], and [3].", [1, 3]),
        ("All [1-3] or [2\u20139].", "All [1][2][3] or [2][3].", [1, 2, 3]),
        ("Third [3], first [ 1 ].", "Third [3], first [1].", [3, 1]),
        ("None [0][4][999].", "None.", []),
        ("In [2024] and [1/2] and [x] and [].", "In [2024] and [1/2] and [x] and [].", []),
        ("Backwards [3-1].", "Backwards.", []),
        ("Left open [1", "Left open [1", []),
        ("[1](http://evil.example)", "[1](http://evil.example)", [1]),
        ("Spaces at the end  ", "Spaces at the end", []),
        ("[" + "1," * 400 + "1]", "[" + "1," * 400 + "1]", []),
    ],
)
def test_citations_are_checked(text: str, expected: str, cited: list[int]) -> None:
    assert filtered(text) == (expected, cited)


@given(st.lists(st.text(alphabet="[] 1294,-a\u2013.", max_size=8), max_size=12))
def test_pieces_do_not_matter_and_no_number_is_made_up(pieces: list[str]) -> None:
    text, cited = filtered(*pieces)
    assert (text, cited) == filtered("".join(pieces))
    written = re.findall(r"\[([0-9]{1,3})\]", text)
    assert {int(number) for number in written} == set(cited) <= {1, 2, 3}


@given(st.text(alphabet="ab [12", max_size=40))
def test_only_what_may_become_a_citation_is_held_back(text: str) -> None:
    passed = CitationFilter(3).feed(text)
    held = text[len(passed) :]
    assert text.startswith(passed)
    assert re.fullmatch(r"[ \t]*(\[[0-9 ,;-]*)?", held)
