"""Hits with equal text, title and headings are merged."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from samples import sample_hit

from workshop.retrieval.equal_texts import merge_equal_texts
from workshop.retrieval.results import Hit


def hits_of(*texts: str) -> Iterator[Hit]:
    """Yield a hit for each text, best first."""
    for number, text in enumerate(texts):
        headings = ["Pumps", "Seals"]
        yield sample_hit(id=f"c{number}", text=text, section=headings, score=1 - number / 100)


@pytest.mark.parametrize(
    ("texts", "count", "expected"),
    [
        ("abc", 9, ["a", "b", "c"]),
        (["a b", " a\tb\r\n", "c", "ab"], 9, ["a b +c1 +c3", "c"]),
        # No hits are read beyond the first one that is not wanted.
        ("abaca", 2, ["a +c2", "b", "c"]),
        ("aabab", 2, ["a +c1 +c3", "b +c4"]),
        ("abbcdd", 3, ["a", "b +c2", "c", "d"]),
        ("abbcbc", 1, ["a", "b", "c"]),
        ("", 1, []),
    ],
)
def test_equal_texts_are_one_hit(texts: list[str], count: int, expected: list[str]) -> None:
    hits = [*merge_equal_texts(hits_of(*texts), count=count)]
    assert [" +".join([hit.text, *hit.near_duplicates]) for hit in hits] == expected
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("changed", [{"title": "Fans"}, {"section": ["Pumps"]}, {"section": []}])
def test_equal_texts_under_other_headings_are_separate_hits(changed: dict[str, Any]) -> None:
    first, second = hits_of(*"aa")
    assert len([*merge_equal_texts(iter([first, second]), count=5)]) == 1
    other = replace(second, **changed)
    assert [*merge_equal_texts(iter([first, other]), count=5)] == [first, other]


def test_the_newest_of_equal_hits_is_shown() -> None:
    first, second, third, worse = hits_of(*"aaaa")
    second = replace(second, score=first.score, modified="2026-02-01")
    third = replace(third, score=first.score, modified="2026-01-31")
    worse = replace(worse, modified="2026-03-01")
    (hit,) = merge_equal_texts(iter([first, second, third, worse]), count=1)
    assert (hit.id, hit.near_duplicates) == ("c1", ("c0", "c2", "c3"))
