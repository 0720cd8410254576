"""Which queries consist only of identifiers."""

import re

import pytest

from workshop.index.tokens import Tokenizer
from workshop.retrieval.identifiers import is_identifier_query

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
def test_identifier_queries_are_recognised(query: str) -> None:
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
def test_other_queries_are_not_identifiers(query: str) -> None:
    assert not is_identifier(query)


def test_patterns_match_tokens_and_whole_queries() -> None:
    assert not is_identifier("gearbox omega")
    assert is_identifier("gearbox omega", "gearbox [a-z]+")
    assert is_identifier("omega", "omega|sigma")
    assert not is_identifier("omega ray", "omega|sigma")


def test_a_long_query_is_never_an_identifier() -> None:
    assert is_identifier("D40 " * 50)
    assert not is_identifier("D40 " * 51)
    assert is_identifier("a" * 200, "a+")
    assert not is_identifier("a" * 201, "a+")
