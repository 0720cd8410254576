"""What a model's answer may contain: no invented citations, links, images or HTML."""

import pytest

from foundry.runtime.chat.model_text import CitationFilter, MarkupFilter

PASSAGE = "Ask at https://docs.example/help, or www.docs.example."


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
        (
            "`argv[9]`, argv[0], [5-20] mm and [0-9]{3}",
            "`argv[9]`, argv[0], [5-20] mm and [0-9]{3}",
            [],
        ),
        ("So 【1†source】 and[^2].", "So [1] and[2].", [1, 2]),
        ("[1](http://evil.example)", "[1](http://evil.example)", [1]),
        ("Spaces at the end  ", "Spaces at the end", []),
        ("[" + "1," * 400 + "1]", "[" + "1," * 400 + "1]", []),
    ],
)
def test_citations_are_checked(text: str, expected: str, cited: list[int]) -> None:
    assert filtered(text) == filtered(*text) == (expected, cited)


def test_the_last_passage_that_a_request_can_have_is_cited() -> None:
    assert filtered("Both [2, 20].", passages=20) == ("Both [2][20].", [2, 20])
    assert filtered("Size [2, 21].", passages=20) == ("Size [2, 21].", [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[see](http://evil.example/a.b)", "[see] (http[:]//evil[.]example/a[.]b)"),
        ("![x](https://evil.example?d=1)", "! [x] (https[:]//evil[.]example?d=1)"),
        ("[1]: http://evil.example", "[1] : http[:]//evil[.]example"),
        ("<img src=x>", "< img src=x>"),
        ("HTTP://EVIL.example WWW.evil.example", "HTTP[:]//EVIL[.]example WWW[.]evil[.]example"),
        (
            "[1] Guide: https://docs.example/help?d=1",
            "[1] Guide: https[:]//docs[.]example/help?d=1",
        ),
        ("(https://docs.example/help).", "(https://docs.example/help)."),
        ("Ask at www.docs.example!", "Ask at www.docs.example!"),
        ("a < b, x <= y, [1][2] and a[0] = f(x)", "a < b, x <= y, [1][2] and a[0] = f(x)"),
        ("```\nrun[0](x)\nif [ ! -f a ]\n```", "```\nrun[0](x)\nif [ ! -f a ]\n```"),
        ("`List[int](x)` and a[0](x)", "`List[int](x)` and a[0] (x)"),
        ("https://" + "a" * 3000, "https[:]//" + "a" * 3000),
    ],
)
def test_what_is_disarmed_stays_readable(text: str, expected: str) -> None:
    for pieces in ([text], text):
        markup = MarkupFilter([PASSAGE])
        assert "".join(map(markup.feed, pieces)) + markup.finish() == expected
