"""Titles derived from texts and file names, and dates in titles."""

# ruff: noqa: RUF001 (other scripts are meant)
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.documents import Document, RawDocument, Reading
from foundry.readers import read
from foundry.readers.formats import plain
from foundry.readers.titles import MAX_TITLE_CHARS, derive_title, title_from
from foundry.runtime.index.records import informative_title


def title_of(text: str, media_type: str = "text/plain", title: str | None = None) -> str:
    raw = RawDocument("s", "id-1", "id-1", text.encode(), media_type, id="id-1", title=title)
    document = read(raw)
    assert isinstance(document, Document), document
    return document.title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("#pragma once\n\n#include <x.h>\n\n// Copies a block.\nvoid copy();", "Copies a block…"),
        ('"""Return the sum."""\nimport os\n', "Return the sum…"),
        ("#!/bin/sh\n\nset -e\n", "set -e…"),
        ("// SPDX-License-Identifier: MIT\n// Copyright 2020 A\n\nint main()", "int main()…"),
        ("Dr. Smith went home. Then he slept.", "Dr. Smith went home…"),
        ("From here on, we go by boat.", "From here on, we go by boat…"),
        ("- 12\n| one thing | 2 |", "one thing | 2…"),
        (
            "人人生而自由，在尊严和权利上一律平等。他们赋有理性。",
            "人人生而自由，在尊严和权利上一律平等…",
        ),
        ("word " * 40, "word " * 15 + "word…"),
        ("x" * 200, "x" * MAX_TITLE_CHARS + "…"),
        ("12 34", "id-1"),
        ("# Guide\n\ntext", "Guide"),
        ("Short line\n\ntext", "Short line"),
    ],
)
def test_titles_are_derived_from_texts_without_one(text: str, title: str) -> None:
    assert title_of(text) == title


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("2024-01-05", "2024-01-05"),
        ("2024-01-05T00:00:00", "2024-01-05"),
        ("2024-01-05 00:00:00", "2024-01-05"),
        ("2024-01-05T00:00:00.000Z", "2024-01-05"),
        ("2024-01-05T00:00+02:00", "2024-01-05"),
        ("2024-01-05T10:30:00Z", "2024-01-05 10:30 UTC"),
        ("2024-01-05t10:30:07+00:00", "2024-01-05 10:30:07 UTC"),
        ("2024-01-05 10:30+05:30", "2024-01-05 10:30 +05:30"),
        ("Minutes of 2024-01-05T00:00:00", "Minutes of 2024-01-05"),
        ("PII-2024-01-05T00:00:00", "PII-2024-01-05T00:00:00"),
        ("2024-01-05T00:00:00-draft", "2024-01-05T00:00:00-draft"),
        ("1704412800", "1704412800"),
    ],
)
def test_dates_in_titles_are_readable(written: str, title: str) -> None:
    assert title_of(f"---\ntitle: {written}\n---\ntext", "text/markdown") == title
    assert title_of(f"# {written}\n\ntext", "text/markdown") == title
    assert title_of("text", "text/markdown", written) == title


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("diary/2024-03-01.md", "2024-03-01"),
        ("diary/2024_03_01_well-known-pumps.md", "2024-03-01 well known pumps"),
        ("notes/part-2024-03.md", "part 2024 03"),
        ("notes/PII-2024-03-0112.md", "PII 2024 03 0112"),
    ],
)
def test_file_names_keep_their_date(path: str, title: str) -> None:
    document = read(RawDocument("s", path, path, b"text"))
    assert isinstance(document, Document)
    assert document.title == title


def test_first_heading_of_any_level_is_the_title() -> None:
    assert title_of("Before.\n\n## Part two\n\ntext", "text/markdown") == "Part two"
    assert title_of("## Part two\n\ntext", "text/markdown", "Given") == "Given"


def test_file_name_is_the_title_of_code() -> None:
    document = read(RawDocument("s", "a.inc", "src/a.inc", b"#pragma once\n\nint a();\n"))
    assert isinstance(document, Document)
    assert document.title == "a"


def test_titles_are_found_only_at_the_beginning() -> None:
    blank = "\n" * 7_995
    assert derive_title(Reading(f"{blank}Oil it.")) == "Oil i…"
    assert derive_title(Reading(f"{blank}\n\n\n\n\nOil it.")) == ""


@pytest.mark.parametrize(
    ("path", "title"),
    [("a/old_pump-seals.txt", "old pump seals"), ("a/--.txt", "--.txt"), ("/", "/")],
)
def test_titles_are_derived_from_file_names(path: str, title: str) -> None:
    assert title_from(path, plain.READER) == title


def test_beginnings_of_texts_are_not_indexed_as_titles() -> None:
    assert informative_title("Dr. Smith went home…", "id-1", ()) == ()
    assert informative_title("Part two", "id-1", ()) == ("Part two",)


@given(st.text())
def test_titles_are_short_and_on_one_line(text: str) -> None:
    title = derive_title(Reading(text))
    assert len(title) <= MAX_TITLE_CHARS + 1
    assert title.split() == title.split(" ") or not title
