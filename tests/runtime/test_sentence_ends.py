"""Sentence ends are found within the requested range of a text."""

from hypothesis import given
from hypothesis import strategies as st

from foundry.runtime.chat.text import find_sentence_ends


@given(st.text("aB.!? \n`1-\u3002\u300d", max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_ends_are_in_order_within_the_stretch(text: str, first: int, second: int) -> None:
    start, end = sorted((min(first, len(text)), min(second, len(text))))
    ends = list(find_sentence_ends(text, start, end))
    assert ends == sorted(set(ends))
    assert all(start < place < end for place in ends)
