"""Org: headings, blocks, tables, notes and omissions."""

import pytest
from document_files import read_whole

from foundry.documents import Document, RawDocument
from foundry.readers import read

SOURCE = """\
#+TITLE: Orchard notes
#+DATE: <2024-05-03 Fri>
#+FILETAGS: :fruit:work:
#+MACRO: press The $1 press
# an aside
* TODO [#A] Pruning /early/ :winter:
:PROPERTIES:
:ID: 4711
:END:
Cut in [[https://e.org/may][May]]; see =cut(x)= and *bold* words[fn:1].
- [X] saw
  1. sharpen
- knife :: a small one
#+CAPTION: What is sold
| Fruit | Kg |
|-------+----|
| Plum  | 17 |
** Code
#+begin_src python :results output
,* x = 1
#+end_src
: literal  line
#+begin_quote
Patience.
#+end_quote
#+begin_comment
not for readers
#+end_comment
{{{press(old)}}} costs 10^{6}, \\alpha{} and H_{2}O.

[fn:1] Said so.
"""


def read_text(source: str) -> Document:
    return read_whole(source, "a.org")


def test_org() -> None:
    document = read_text(SOURCE)
    assert (document.title, document.modified) == ("Orchard notes", "2024-05-03")
    assert document.tags == ("fruit", "work")
    outline = [(heading.level, heading.text) for heading in document.reading.headings]
    assert outline == [(1, "TODO Pruning early"), (2, "Code")]
    text = document.reading.text
    for said in (
        "Cut in [May](https://e.org/may); see `cut(x)` and **bold** words [1].",
        "- [X] saw\n  1. sharpen\n- knife: a small one",
        "What is sold\n\n| Fruit | Kg |\n| --- | --- |\n| Plum | 17 |",
        "```python\n* x = 1\n```",
        "```\nliteral  line\n```",
        "Patience.",
        "The old press costs 10^6, α and H2O.",  # noqa: RUF001
        "[1] Said so.",
    ):
        assert said in text, said
    assert not {"4711", "readers", "aside"} & set(text.split())


@pytest.mark.parametrize(
    "source",
    [
        "#+begin_src\n" * 50_000,
        "#+begin_quote\n" * 50_000,
        ":A:\n" * 50_000,
        "[[" * 30_000,
        "=a" * 30_000,
    ],
)
def test_unclosed_markup_is_read(source: str) -> None:
    assert read(RawDocument("s", "a.org", "a.org", f"words\n{source}".encode()))


def test_own_drawers_are_read_and_logs_are_not() -> None:
    source = (
        "* Press\n:LOGBOOK:\nCLOCK: [2024-05-03 Fri 10:00]\n:END:\n:HINTS:\nOil it /well/.\n:END:\n"
        "5. [@7] seventh\n- [@3] a point\n"
    )
    document = read(RawDocument("s", "a.org", "a.org", source.encode()))
    assert isinstance(document, Document)
    assert document.reading.text == "# Press\n\nOil it *well*.\n\n7. seventh\n- a point"
    assert any("CLOCK" in each.text for each in document.reading.left_out)
    assert document.reading.unaccounted == ()


def test_titles_in_the_outline_have_no_markup() -> None:
    document = read(RawDocument("s", "a.org", "a.org", b"#+TITLE: The *big* =press=\n* Run /it/\n"))
    assert isinstance(document, Document)
    assert document.title == "The big press"
    assert [each.text for each in document.reading.headings] == ["Run it"]


def test_org_admonitions_and_pictures() -> None:
    source = "#+begin_warning\nHot [[file:a.png]].\n\n- b\n#+end_warning\n\n[[./c.jpg]]\n"
    document = read(RawDocument("s", "a.org", "a.org", source.encode()))
    assert isinstance(document, Document)
    assert document.reading.text == "> **Warning**\n>\n> Hot ![](a.png).\n>\n> - b\n\n![](./c.jpg)"


def test_exported_html_is_read() -> None:
    source = "#+begin_export html\n<p>Ripe <b>plums</b></p>\n#+end_export\n"
    assert read_text(source).reading.text == "Ripe **plums**"


def test_rows_for_the_layout_of_columns_are_left_out() -> None:
    source = "| <10> | <l> |\n| Fruit | Kg |\n|---+---|\n| / | <> |\n| Plum | 1 |\n| | |\n"
    assert read_text(source).reading.text == "| Fruit | Kg |\n| --- | --- |\n| Plum | 1 |"


def test_included_files_are_linked() -> None:
    document = read_text('#+INCLUDE: "plums_a.org" :lines "5-10"\n')
    assert document.reading.text == "[plums_a.org](plums_a.org)"
