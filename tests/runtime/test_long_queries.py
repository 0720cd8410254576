"""Only the beginning of a long query is used, and none of it stays in memory."""

import random
import tracemalloc
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.runtime import retrieval
from foundry.runtime.index.layout import Vocabulary
from foundry.runtime.index.remembering import remember
from foundry.runtime.index.tokens import MAX_QUERY_CHARACTERS, MAX_QUERY_TERMS, Tokenizer
from foundry.runtime.retrieval.encoder import PieceCutter

RETRIEVAL = Path(retrieval.__file__).parent

english = Tokenizer("english")
words = [f"w{number}" for number in range(100)]


def terms_of(query: str) -> set[str]:
    return {term for token in english.tokenize_query(query)[1] for term in token.terms}


@given(st.text(max_size=3 * MAX_QUERY_TERMS))
def test_a_query_within_the_limits_is_not_cut(query: str) -> None:
    searched, tokens = english.tokenize_query(query)
    if len({term for token in english.tokenize(query) for term in token.terms}) <= MAX_QUERY_TERMS:
        assert searched == query
        assert tokens == english.tokenize(query)


@given(
    st.lists(
        st.sampled_from([*words, "fooBar", "\u65e5\u672c\u8a9e", "\ufdfa", "the"]), max_size=600
    )
)
def test_limits_hold_for_any_query(parts: list[str]) -> None:
    _, tokens = english.tokenize_query(" ".join(parts))
    assert len({term for token in tokens for term in token.terms}) <= MAX_QUERY_TERMS


@given(st.text("aAbB12&+*()._-: ", max_size=MAX_QUERY_TERMS))
def test_a_query_has_no_more_terms_than_characters(query: str) -> None:
    assert len(english.terms(query)) <= len(query)


def test_tokens_of_several_terms_count_by_their_terms() -> None:
    letters = "bcdefghjklmnopqrstuvwxyz"
    # The first 12 words have three terms each, and the other 14 two: 12 * 3 + 14 * 2 = 64.
    pairs = [f"{one}&{other}" for one, other in zip(letters[::2], letters[1::2], strict=True)]
    series = [f"{letter}{letter}1" for letter in letters]
    query = " ".join([*pairs, *series[:20]])
    assert len(query) < 2 * MAX_QUERY_TERMS
    searched, tokens = english.tokenize_query(query)
    assert [token.text for token in tokens] == [*pairs, *series[:14]]
    assert searched.split() == [*pairs, *series[:14]]
    assert len(terms_of(query)) == MAX_QUERY_TERMS


def test_only_the_beginning_of_a_query_is_normalised(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths, normalize = list[int](), unicodedata.normalize

    def count(form: Literal["NFKC"], text: str) -> str:
        lengths.append(len(text))
        return normalize(form, text)

    monkeypatch.setattr(unicodedata, "normalize", count)
    english.tokenize_query("\ufdfa" * 2_000)
    assert max(lengths) == MAX_QUERY_CHARACTERS


def _vocabulary_finder() -> Callable[[str], object]:
    return remember(Vocabulary(memoryview(b"ab"), np.array([0, 1, 2], dtype=np.uint64)).find)


@contextmanager
def little_is_kept(most_bytes: int) -> Iterator[None]:
    """Check that less than `most_bytes` of what this module and searches allocate stays in use."""
    allocators = [tracemalloc.Filter(True, file) for file in (__file__, f"{RETRIEVAL}/*")]
    tracemalloc.start()
    try:
        yield
        snapshot = tracemalloc.take_snapshot().filter_traces(allocators)
    finally:
        tracemalloc.stop()
    assert sum(trace.size for trace in snapshot.traces) < most_bytes


@pytest.mark.parametrize(
    "look_up",
    [Tokenizer("english").tokenize, PieceCutter(["a", "##a"]).cut, _vocabulary_finder()],
    ids=["tokens", "pieces", "terms"],
)
@pytest.mark.parametrize("length", [2_000, 100])
def test_long_words_are_not_kept_in_memory(look_up: Callable[[str], object], length: int) -> None:
    chooser = random.Random(length)
    look_up(chooser.randbytes(length // 2).hex())
    with little_is_kept(60_000):
        for _ in range(200_000 // length):
            look_up(chooser.randbytes(length // 2).hex())


def test_the_cache_of_a_tokenizer_is_bounded() -> None:
    tokenizer = Tokenizer("none")
    # 8,192 entries take less than 3 MB, and all of them would take 4.1 MB.
    with little_is_kept(3_200_000):
        for number in range(12_000):
            tokenizer.tokenize(f"word{number}")
