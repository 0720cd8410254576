"""Which headings are suggested as queries."""

import pytest

from foundry.indexing.suggestions import choose_suggestions


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
    assert choose_suggestions([*names, *words, *phrases]) == phrases
    assert choose_suggestions([*names, *words]) == words
    assert choose_suggestions(names) == names


@pytest.mark.parametrize(
    "heading", ["LICENSE", "License", "CHANGELOG.md", "Table of Contents", "1. Contents"]
)
def test_boilerplate_is_never_suggested(heading: str) -> None:
    assert choose_suggestions([heading]) == []
