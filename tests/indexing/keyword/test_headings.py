"""Which headings are suggested as queries."""

from pathlib import Path

import pytest
from small_indexes import Note, write_notes

from foundry.indexing.keyword.headings import KNOWN_ITEMS, Kind, kind_of
from foundry.indexing.versions import open_index


def test_phrases_come_before_words_and_words_before_program_names() -> None:
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


def test_suggestions_come_from_all_parts_of_the_documents(tmp_path: Path) -> None:
    notes = [Note(f"How to mend pump {number:02}", ("Use a seal.",)) for number in range(23)]
    index = open_index(write_notes(tmp_path / "v1", notes, vectors=False))
    suggested = [item.query for item in index.manifest.known_items]
    assert len(suggested) == KNOWN_ITEMS
    # Every fourth of 23.
    assert [text.rpartition(" ")[2] for text in suggested] == ["00", "04", "08", "12", "16"]
