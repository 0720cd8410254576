"""Plain text and source code."""

import pytest
from document_files import read_document


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("MIT License\n\nCopyright", "MIT License"),
        ("Guide\n=====\n\ntext", "Guide"),
        ("=====\nGuide\n=====\ntext", "Guide"),
        ("= Guide\n\ntext", "Guide"),
        ("one line\nanother line", "a"),
        ("only one line", "a"),
        ("x" * 200 + "\n\ntext", "a"),
    ],
)
def test_titles_of_plain_text(text: str, title: str) -> None:
    assert read_document(text, "a.txt").title == title


def test_code_is_divided_at_top_level_definitions() -> None:
    text = "import a\n\n\ndef one():\n    x\n\n    y\n\n\nclass Two:\n    pass\n"
    reading = read_document(text, "a.kt").reading
    assert [text[block.start : block.end] for block in reading.blocks] == [
        "import a\n\n\n",
        "def one():\n    x\n\n    y\n\n\n",
        "class Two:\n    pass\n",
    ]
    assert (reading.title, reading.text) == (None, text)


def test_page_templates_are_code() -> None:
    assert read_document("<!DOCTYPE html><html>{{ x }}</html>", "a.vue").media_type == "text/x-vue"
