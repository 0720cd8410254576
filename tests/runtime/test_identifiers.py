import re

import pytest

from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval import identifiers
from foundry.runtime.retrieval.identifiers import (
    is_identifier_query,
    is_written_identifier,
    whole_terms,
)

tokenizer = Tokenizer("english")


@pytest.mark.parametrize(("length", "expected"), [(200, True), (201, False)])
def test_only_the_first_200_characters_are_matched(length: int, expected: bool) -> None:
    pattern = [re.compile("a+"), re.compile("a+ b+")]
    word, words = "a" * length, "a" * (length - 2) + " b"
    assert is_written_identifier(f" {word} ", pattern) == expected
    assert is_identifier_query(f" {word} ", tokenizer.tokenize(word), pattern) == expected
    assert is_identifier_query(words, tokenizer.tokenize(words), pattern) == expected
    (token,) = tokenizer.tokenize(word)
    assert identifiers.is_identifier(token, pattern) == expected


def test_whole_terms() -> None:
    tokens = tokenizer.tokenize("max_connections of pumps")
    assert [whole_terms(token) for token in tokens] == [("maxconnections",), (), ("pump",)]
