"""Which headings are suggested as queries."""

import pytest

from foundry.indexing.keyword.headings import Kind, kind_of


def test_phrases_come_before_words_and_names_of_programs() -> None:
    names = [
        "fastmcp.server.auth",
        "max_connections",
        "run()",
        "--port",
        "HTTPServer",
        "src/app.py",
    ]
    words = ["Fans", "LICENSE AND NOTICES"]
    phrases = ["How do fans ventilate", "30 CFR 75.325 Air quantity", "\u5982\u4f55\u901a\u98ce"]
    assert {kind_of(name) for name in names} == {Kind.OF_A_PROGRAM}
    assert {kind_of(word) for word in words} == {Kind.WORD}
    assert {kind_of(phrase) for phrase in phrases} == {Kind.PHRASE}
    assert Kind.UNWANTED < Kind.OF_A_PROGRAM < Kind.WORD < Kind.PHRASE


@pytest.mark.parametrize(
    "heading", ["LICENSE", "License", "CHANGELOG.md", "Table of Contents", "1. Contents"]
)
def test_boilerplate_is_never_suggested(heading: str) -> None:
    assert kind_of(heading) == Kind.UNWANTED
