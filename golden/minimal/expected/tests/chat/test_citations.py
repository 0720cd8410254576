"""Citations in streamed text: those that are invented do not pass."""

import pytest

from workshop.chat.text import CitationFilter


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
