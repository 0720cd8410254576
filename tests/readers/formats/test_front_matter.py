"""Front matter of Hugo, Jekyll, Hexo, Docusaurus and Quarto."""

import pytest
from document_files import read_document

from foundry.documents import Document


def read_page(text: str) -> Document:
    return read_document(text, "a.md")


@pytest.mark.parametrize(
    "block",
    [
        "---\ntitle: The plums\nlastmod: 2024-05-03\ntags: [a, b]\n---\n",
        '+++\ntitle = "The plums"\nlastmod = 2024-05-03\ntags = ["a", "b"]\n[params]\nx = 1\n+++\n',
        '{\n  "title": "The plums",\n  "lastmod": "2024-05-03",\n\n  "tags": ["a", "b"]\n}\n\n',
        ';;;\n{"title": "The plums", "lastmod": "2024-05-03", "tags": ["a", "b"]}\n;;;\n',
    ],
    ids=["yaml", "toml", "json", "json in marks"],
)
def test_forms_of_front_matter(block: str) -> None:
    document = read_page(f"{block}Body of the page.\n")
    assert (document.title, document.modified) == ("The plums", "2024-05-03")
    assert document.tags == ("a", "b")
    reading = document.reading
    assert reading.text[reading.body_start :].strip() == "Body of the page."


@pytest.mark.parametrize(
    ("line", "modified"),
    [
        ("date: 2024-05-03 10:11:12 +0000", "2024-05-03T10:11:12Z"),
        ("date: 2024-05-03 10:11:12 UTC", "2024-05-03T10:11:12Z"),
        ("date: 2024-5-3", "2024-05-03"),
        ("pubDate: Jul 01 2024\nupdatedDate: 'Jul 08 2024'", "2024-07-08"),
        ("last_update:\n  date: 5/3/2024\n  author: Orla", "2024-05-03"),
        ("date: 2024/05/03 10:00", "2024-05-03T10:00:00Z"),
        ("date: 2024-05-03T10:00:00.5+02:00", "2024-05-03T08:00:00Z"),
        ("date: 2024-05-03 10:00:00 -0430", "2024-05-03T14:30:00Z"),
        ("last_update:\n  date: 2024-05-03\n  author: Ann", "2024-05-03"),
        ("pubDate: May 3, 2024", "2024-05-03"),
        ("date: 2024-13-03", None),
        ("date: 2023-01-01\nupdated: 2024-05-03", "2024-05-03"),
    ],
)
def test_date_formats_of_site_generators(line: str, modified: str | None) -> None:
    assert read_page(f"---\n{line}\n---\nBody.\n").modified == modified


@pytest.mark.parametrize("text", ["+++\nno toml\n+++\nBody.\n", "{x: y}\n\nBody.\n", '{"a"\n\nB\n'])
def test_other_text_is_not_front_matter(text: str) -> None:
    assert read_page(text).reading.text.startswith(text[:6].strip())


def test_hexo_front_matter_needs_no_opening_mark() -> None:
    document = read_page("title: The plums\ndate: 2013/7/13 20:46:25\ntags: [a]\n---\nBody.\n")
    assert (document.title, document.modified) == ("The plums", "2013-07-13T20:46:25Z")
    assert document.tags == ("a",)
    assert document.reading.headings == ()
    assert [each.text for each in read_page("title: Plums\n---\n").reading.headings] == [
        "title: Plums"
    ]


def test_subtitle_and_abstract_are_text() -> None:
    head = "---\ntitle: Plums\nsubtitle: In pots\nabstract: |\n  Short and\n  sweet.\n---\n"
    reading = read_page(f"{head}\n# Body\n").reading
    assert reading.text[reading.body_start :] == "In pots\n\nShort and sweet.\n\n\n# Body\n"
    assert reading.text.index("# Body") == reading.headings[0].start
    assert reading.text.count("\n") == f"{head}\n# Body\n".count("\n")
    absent = read_page("---\nsubtitle: ~\nabstract: [a]\n---\nBody.\n").reading
    assert absent.text[absent.body_start :] == "Body.\n"


def test_home_pages_are_read_as_they_are_shown() -> None:
    head = (
        "---\nlayout: home\nhero:\n  name: Quince\n  text: Fruit <b>of</b> kings\n  tagline: Sour\n"
        "features:\n  - icon: x\n    title: Fast\n    details: Ripe by May.\n"
        "  - details: Hardy.\n---\n"
    )
    page = read_page(head)
    text = page.reading.text[page.reading.body_start :]
    assert [line for line in text.split("\n") if line] == [
        *("# Quince", "Fruit of kings", "Sour", "**Fast** Ripe by May.", "Hardy.")
    ]
    assert page.title == "Quince" and page.reading.unaccounted == ()


def test_home_pages_of_vuepress_are_read_as_they_are_shown() -> None:
    text = read_page(
        "---\nhome: true\nheroText: Quince\ntagline: Sour\n---\n\nMore.\n"
    ).reading.text
    assert text.endswith("# Quince\n\nSour\n\n\nMore.\n")
    assert (
        "Sour" not in read_page("---\ntagline: Sour\nhero: none\n---\n\nMore.\n").reading.text[30:]
    )


@pytest.mark.parametrize(
    ("lines", "title", "modified"),
    [
        ("% The plums\n% Ann Oak; Bo Elm\n% 2024-05-03\n", "The plums", "2024-05-03"),
        ("% The plums\n  in spring\n", "The plums in spring", None),
        ("% PICK(1) Plums 3.1\n% Ann Oak\n", "PICK(1) Plums 3.1", None),
        ("% pick-plums 1\n\n# NAME\n", "pick-plums 1", None),
    ],
)
def test_lines_of_pandoc_are_the_title(lines: str, title: str, modified: str | None) -> None:
    document = read_page(f"{lines}\nBody of the page.\n")
    assert (document.title, document.modified) == (title, modified)
    assert "%" not in document.reading.text[document.reading.body_start :]


def test_comments_of_myst_are_no_title() -> None:
    assert read_page("% Written by Ann\n\n# The plums\n\nBody.\n").title == "The plums"


def test_substitutions_of_myst_are_made() -> None:
    reading = read_page(
        "---\nmyst:\n  substitutions:\n    fruit: '**plums** here'\n---\n{{ fruit }}, {{ other }}\n"
    ).reading
    assert reading.text[reading.body_start :] == "**plums** here, {{ other }}\n"
