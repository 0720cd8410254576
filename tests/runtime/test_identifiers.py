import re

import pytest

from foundry.runtime.retrieval import identifiers
from foundry.runtime.retrieval.identifiers import (
    is_identifier_query,
    is_written_identifier,
    whole_terms,
)
from foundry.runtime.retrieval.tokens import Tokenizer

tokenizer = Tokenizer("english")


def is_identifier(query: str, *patterns: str) -> bool:
    return is_identifier_query(query, tokenizer.tokenize(query), [*map(re.compile, patterns)])


@pytest.mark.parametrize(
    "query",
    [
        "D40",
        "d40",
        " D40. ",
        "30 CFR 75.1725",
        "CVE-2024-3095",
        "PII-2024-0042",
        "max_connections",
        "std::vector",
        "HTTPServer",
        "ROS2",
        "C++",
        "what is D40?",
        "D40 or D41",
        "10.0.0.1",
        "_open",
        "__init__",
        "--verbose",
        "-fno-exceptions",
        "/Zi",
        "/Zc:auto",
    ],
)
def test_identifiers(query: str) -> None:
    assert is_identifier(query)


@pytest.mark.parametrize(
    "query",
    [
        "Aboleth",
        "Tell me about D40",
        "SLAM",
        "EKF",
        "2024",
        "30 CFR",
        "state-of-the-art",
        "_really_",
        "- a list",
        "and/or",
        "/ --",
        "U+1F600 is an emoji",
        "",
        "?!",
        "the",
    ],
)
def test_words(query: str) -> None:
    assert not is_identifier(query)


def test_the_owners_patterns_count_for_tokens_and_for_whole_queries() -> None:
    assert not is_identifier("gearbox omega")
    assert is_identifier("gearbox omega", "gearbox [a-z]+")
    assert is_identifier("omega", "omega|sigma")
    assert not is_identifier("omega ray", "omega|sigma")


def test_a_long_query_is_never_an_identifier() -> None:
    assert not is_identifier("D40 " * 100)


@pytest.mark.parametrize(("length", "expected"), [(200, True), (201, False)])
def test_what_is_matched_has_at_most_200_characters(length: int, expected: bool) -> None:
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
