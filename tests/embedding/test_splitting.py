import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.embedding.providers.model import ModelLimits
from foundry.embedding.providers.splitting import average, find_cut, make_batches, split_text


def test_short_text_is_its_own_part() -> None:
    assert split_text("  roof bolts\n", lambda part: len(part) < 20) == ["roof bolts"]
    assert split_text(" \n", lambda _: False) == []


def test_text_is_halved_between_words() -> None:
    text = "one two three four five six"
    assert split_text(text, lambda part: len(part) <= 14) == ["one two three", "four five six"]


def test_long_word_is_cut() -> None:
    assert split_text("abcdefgh", lambda part: len(part) <= 2) == ["ab", "cd", "ef", "gh"]


def test_spaces_near_an_end_do_not_make_tiny_parts() -> None:
    assert split_text("a bcdefghijk", lambda part: len(part) <= 7) == ["a bcde", "fghijk"]


def test_single_characters_are_parts_if_nothing_fits() -> None:
    assert split_text("abc", lambda _: False) == ["a", "b", "c"]


@given(st.text(max_size=400), st.integers(1, 50))
def test_parts_fit_and_contain_the_whole_text(text: str, limit: int) -> None:
    parts = split_text(text, lambda part: len(part) <= limit)
    assert all(0 < len(part) <= limit and part == part.strip() for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


@given(st.text(min_size=2, max_size=100))
def test_cut_is_inside(text: str) -> None:
    assert 0 < find_cut(text) < len(text)


def test_average_is_weighted() -> None:
    one, other = np.array([1, 0], dtype=np.float32), np.array([0, 1], dtype=np.float32)
    # (3, 4) / 7 has the length 5 / 7.
    assert average([one, other], [3, 4]).tolist() == pytest.approx([0.6, 0.8])
    assert average([one, -one], [1, 1]).tolist() == [0, 0]


def test_batches_respect_the_limits() -> None:
    limits = ModelLimits(tokens=10, batch_tokens=20, batch_texts=3, calls=1)
    texts = [("a", 9), ("b", 2), ("c", 9), ("d", 1), ("e", 1), ("f", 1), ("g", 1)]
    assert make_batches(texts, limits, padded=False) == [["a", "b", "c"], ["d", "e", "f"], ["g"]]
    # Padded to the longest, two of nine tokens take 18 and a third text would make it 27.
    assert make_batches(texts, limits, padded=True) == [["a", "c"], ["b", "d", "e"], ["f", "g"]]
    assert make_batches([("long", 99)], limits, padded=True) == [["long"]]
    assert make_batches([], limits, padded=True) == []
