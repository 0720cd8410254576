"""Citations in streamed text, however it is split into chunks."""

import re

from hypothesis import given
from hypothesis import strategies as st

from foundry.runtime.chat.model_text import CitationFilter


def filtered(*pieces: str, passages: int = 3) -> tuple[str, list[int]]:
    citations = CitationFilter(passages)
    text = "".join(map(citations.feed, pieces)) + citations.finish()
    return text, citations.cited


@given(st.lists(st.text(alphabet="[] 1294,-a\u2013.", max_size=8), max_size=12))
def test_splits_do_not_matter_and_unknown_numbers_are_removed(pieces: list[str]) -> None:
    text, cited = filtered(*pieces)
    assert (text, cited) == filtered("".join(pieces))
    written = re.findall(r"\[([0-9]{1,3})\]", text)
    assert {int(number) for number in written} == set(cited) <= {1, 2, 3}


@given(st.text(alphabet="ab [12", max_size=40))
def test_only_text_that_may_begin_a_citation_is_held_back(text: str) -> None:
    passed = CitationFilter(3).feed(text)
    held = text[len(passed) :]
    assert text.startswith(passed)
    assert re.fullmatch(r"[ \t]*(\[[0-9 ,;-]*)?", held)
