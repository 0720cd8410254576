"""Sentences end where readers would say so."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.runtime.retrieval.sentences import find_sentence_ends


def cut(text: str) -> list[str]:
    cuts = [0, *find_sentence_ends(text, 0, len(text)), len(text)]
    return [text[start:end].strip() for start, end in pairwise(cuts)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["One here.", "Two there!", "Three?"],
        ["It takes 3.5 mm, e.g. Of steel.", "Then wait."],
        ["Dr. Who met J. Doe at 9 p.m. On time.", "He left."],
        ["See fig. 3 and no. 4.", "They differ."],
        ["Call `a. B. c` now.", "It returns."],
        ['She said "no."', "He went (at last).", "End."],
        ["Yahoo! is lower case.", "Next."],
        [
            "\u4eca\u65e5\u306f\u3002",
            "\u660e\u65e5\uff1f",
            "\u300c\u306f\u3044\u3002\u300d",
            "\u7d42",
        ],
        ["\u092f\u0939 \u090f\u0915 \u0939\u0948\u0964", "\u092f\u0939 \u0926\u094b\u0964"],
        ["No stop here", "- an item", "- another", "1. a third", "2. a fourth"],
        ["First paragraph", "Second paragraph"],
        ["Wait... what now.", "Yes."],
    ],
)
def test_sentences(sentences: list[str]) -> None:
    is_spaceless = sentences[0].endswith("\u3002")
    is_list = any(sentence.startswith("- ") for sentence in sentences)
    are_paragraphs = sentences[0] == "First paragraph"
    separator = "" if is_spaceless else "\n" if is_list else "\n\n" if are_paragraphs else " "
    assert cut(separator.join(sentences)) == sentences


def test_a_line_within_a_paragraph_is_no_end() -> None:
    assert cut("one line\nanother line.\nLast") == ["one line\nanother line.", "Last"]


@given(st.text("aB.!? \n`1-\u3002\u300d", max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_ends_are_in_order_within_the_stretch(text: str, first: int, second: int) -> None:
    start, end = sorted((min(first, len(text)), min(second, len(text))))
    ends = list(find_sentence_ends(text, start, end))
    assert ends == sorted(set(ends))
    assert all(start < place < end for place in ends)
