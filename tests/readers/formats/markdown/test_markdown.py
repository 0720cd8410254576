"""Markdown: outline, blocks, links, tags and front matter."""

import time
from typing import Any
from unittest.mock import patch

import pytest
from document_files import read_document
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from foundry.documents import RawDocument, Reading
from foundry.readers import read
from foundry.readers.formats.markdown import prose as markdown_prose
from foundry.readers.formats.markdown import reader as markdown
from foundry.readers.formats.markdown.blocks import MAX_BLOCK_DEPTH, Parsed
from foundry.readers.formats.markdown.prose import find_prose


def read_markdown(text: str, path: str = "a.md") -> Reading:
    return read_document(text, path).reading


def outline(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in read_markdown(text).headings]


def blocks(text: str) -> list[str]:
    reading = read_markdown(text)
    return [reading.text[block.start : block.end] for block in reading.blocks]


def links(text: str) -> list[tuple[str, str, str]]:
    return [(link.target, link.text, link.kind) for link in read_markdown(text).links]


def test_headings_have_exact_offsets() -> None:
    reading = read_markdown("intro\n\n# One #\n\ntext\n\nTwo\nlines\n---\n\n### Three\n")
    assert [(h.level, h.text) for h in reading.headings] == [
        (1, "One"),
        (2, "Two lines"),
        (3, "Three"),
    ]
    spans = [reading.text[heading.start : heading.end] for heading in reading.headings]
    assert spans == ["# One #", "Two\nlines\n---", "### Three"]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("**Bold** and *more*", "Bold and more"),
        ("`code_x` [link](a.md) ![alt](b.png)", "code_x link alt"),
        ("Set up {#set-up}", "Set up"),
        ("`Settings` <sup><a href='x'><Icon /></a></sup>", "Settings"),
        ("\\_\\_cdecl &amp; __stdcall, __thiscall", "__cdecl & __stdcall, __thiscall"),
        ("~~old~~ new", "old new"),
        ("snake_case_name * 2", "snake_case_name * 2"),
        ("C++ / C#", "C++ / C#"),
    ],
)
def test_headings_lose_their_markup(written: str, text: str) -> None:
    assert outline(f"# {written}\n") == [(1, text)]


def test_no_headings_from_code_quotes_lists_or_comments() -> None:
    text = "```\n# a\n```\n\n    # b\n\n> # c\n\n- # d\n\n<!--\n# e\n-->\n\n# f\n"
    assert outline(text) == [(1, "f")]


def test_blocks_are_code_and_tables() -> None:
    text = (
        "a\n\n```py\nx\n\ny\n```\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n"
        "<div>\nz\n</div>\n\n    code\n\nb"
    )
    assert blocks(text) == [
        "```py\nx\n\ny\n```",
        "| a | b |\n|---|:-:|\n| 1 | 2 |",
        "    code",
    ]
    assert blocks("- item\n\n  ```\n  x\n  ```\n") == ["  ```\n  x\n  ```"]


def test_a_table_may_follow_a_line_of_text() -> None:
    assert blocks("words\na | b\n--|--\n1 | 2\n") == ["a | b\n--|--\n1 | 2"]


def test_content_of_mdx_components_is_not_code() -> None:
    text = "import X from 'x'\n\n<Steps>\n    <Step>\n\n    ## Inner\n\n    text\n\n    </Step>\n"
    reading = read_markdown(text, "a.mdx")
    assert [heading.text for heading in reading.headings] == ["Inner"]
    assert reading.blocks


def test_links_of_every_kind() -> None:
    text = (
        "[in *line*](a.md 'title') [ref][Label] [short] ![image](x.png) "
        "[[Page|shown]] [[Other#part]] <https://auto.org> https://bare.org/x_(y). "
        "[par](b_(c).md) [angle](<d e.md>) [![alt](i.png)](f.md) "
        "<a class='x' href=\"g.html\">g</a>\n\n"
        "[label]: c.md 'T'\n[short]: <h.md>\n"
    )
    assert links(text) == [
        ("a.md", "in line", "inline"),
        ("c.md", "ref", "inline"),
        ("h.md", "short", "inline"),
        ("Page", "shown", "wikilink"),
        ("Other", "Other", "wikilink"),
        ("https://auto.org", "https://auto.org", "autolink"),
        ("https://bare.org/x_(y)", "https://bare.org/x_(y)", "autolink"),
        ("b_(c).md", "par", "inline"),
        ("d e.md", "angle", "inline"),
        ("f.md", "alt", "inline"),
        ("g.html", "g", "inline"),
    ]


def test_no_links_or_tags_from_code() -> None:
    reading = read_markdown("`[a](b)` ``#x ` [[c]]``\n\n```\n[d](e) #y\n```\n\n    [[f]]\n")
    assert (reading.links, reading.tags) == ((), ())


def test_tags_are_taken_from_prose_only() -> None:
    text = "# Heading #no\n\nText #topic and #area/detail, (#no) #123 #fff x#no #include\n"
    assert read_markdown(text).tags == ("topic", "area/detail")


def test_front_matter() -> None:
    reading = read_markdown(
        '---\ntitle: "No: really"\ntags: [a, "b c"]\nkeywords: c, d\n'
        "date: 2020-01-02\nupdated: 2024-05-06 07:08:09\n---\n# Heading\n"
    )
    assert reading.title == "No: really"
    assert reading.tags == ("a", "b c", "c", "d")
    assert reading.modified == "2024-05-06T07:08:09Z"
    assert reading.text[reading.body_start :] == "# Heading\n"
    assert reading.headings[0].start == reading.body_start


@pytest.mark.parametrize(
    ("block", "aliases"),
    [
        ("aliases: [Big pump, 'Pump, big', '']", ("Big pump", "Pump, big")),
        ("aliases:\n  - One\n  - Two\nalias: Three", ("One", "Two", "Three")),
        ("alias: Pump, big", ("Pump, big",)),
        ("aliases: {a: b}", ()),
        ("aliases: null", ()),
    ],
)
def test_aliases_in_front_matter(block: str, aliases: tuple[str, ...]) -> None:
    assert read_markdown(f"---\n{block}\n---\n# Page\n").aliases == aliases


def test_scalars_of_front_matter_stay_as_written() -> None:
    assert read_markdown("---\ntitle: No\n---\nx").title == "No"
    assert read_markdown("---\ntitle: 1.10\nms.date: 05/28/2026\n---\nx").title == "1.10"
    assert read_markdown("---\ntitle:\nms.date: 05/28/2026\n---\n# T").modified == "2026-05-28"


@pytest.mark.parametrize(
    "block",
    [
        "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
        "a: !!python/object/apply:os.system ['true']",
        "a: " + "[" * 60_000,
        "a:\n  " + "- " * 30_000,
        "a: [unclosed",
        "a: b: c",
        "x: " + "y" * 50_000 + "\n? \x01",
    ],
)
def test_invalid_or_unsafe_front_matter_is_content(block: str) -> None:
    text = f"---\n{block}\n---\n# Title\n"
    reading = read_markdown(text)
    assert reading.body_start == 0
    assert reading.text == text
    assert [heading.text for heading in reading.headings] == ["Title"]


def test_text_between_rules_is_not_front_matter() -> None:
    reading = read_markdown("---\n\nwords\n\n# Title\n\n---\n")
    assert (reading.body_start, reading.headings[0].text) == (0, "Title")


def test_rule_at_the_start_is_not_front_matter() -> None:
    assert read_markdown("---\n\ntext without an end\n").body_start == 0


def test_embedded_images_are_not_text() -> None:
    text = read_markdown("![x](data:image/png;base64," + "iVBORw0KGgo" * 100 + "==) words").text
    assert text == "![x](data:image/png;base64,) words"


_SIZE = 30_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        *"[ *a ` > [a]( ![ ]( [[ |- <!-- [![a](b) ~ \\".split(),
        *("`a ``", "> a\n", "<a ", "# [", "- ", "[a]: b\n", "a\n\n", '[a](b "', '<a href="'),
        *("- > ", "> " * 9),
    ],
)
def test_hostile_repetition_takes_linear_time(text: str) -> None:
    def measure(count: int) -> float:
        begin = time.process_time()
        read(RawDocument("s", "a.md", "a.md", ("x " + text * count).encode()))
        return time.process_time() - begin

    def is_linear() -> bool:
        small, large = measure(_SIZE // 8), measure(_SIZE)
        return large < 0.5 or large < 20 * small

    measure(10)
    # Other processes slow down single measurements, but not all of them.
    assert any(is_linear() for _ in range(3))


PARTS = (
    *("word", "# ", "- ", "1. ", "> ", "    ", "\t", "`", "```", "~~~", "<b>", "<div>", "a | b"),
    *("\n---|---\n", "---", "===", "[a]: /to", "[a]", "[to](/there)", " ", "\n", "\n", "\n\n"),
)


@given(st.lists(st.sampled_from(PARTS), max_size=30), st.booleans())
def test_reused_blocks_equal_those_of_a_new_parse(parts: list[str], is_mdx: bool) -> None:
    prose, parsed = find_prose("".join(parts), is_mdx=is_mdx)
    if parsed is not None:
        fresh = markdown._read_from(prose, 0, None, indented_code=not is_mdx)
        assert markdown._read_from(prose, 0, parsed, indented_code=not is_mdx) == fresh
    with patch.object(markdown_prose, "_SIGNS", ("",)):
        assert find_prose("".join(parts), is_mdx=is_mdx)[0] == prose


@given(st.lists(st.sampled_from((*PARTS, "word\n", "a | b\n")), max_size=30))
def test_blocks_equal_those_of_the_complete_parser(parts: list[str]) -> None:
    text, environment = "".join(parts), dict[str, Any]()
    every = MarkdownIt("commonmark", {"maxNesting": MAX_BLOCK_DEPTH}).disable("inline")
    parsed = Parsed(every.parse(text, environment), environment)
    of_all = markdown._read_from(text, 0, parsed, indented_code=True)
    assert markdown._read_from(text, 0, None, indented_code=True) == of_all
