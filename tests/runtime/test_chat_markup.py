"""A model's output, as rendered by Markdown renderers, has no link, image or HTML."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from samples import sample_hit

from foundry.runtime.chat.answer import number_passages
from foundry.runtime.chat.legend import legend
from foundry.runtime.chat.model_text import CitationFilter, MarkupFilter

PASSAGE = "Ask at https://docs.example/help, or www.docs.example."
MARKS = (
    "[ ] ( ) ! < > : / . ` ~ \\ & # * - _ a img src= x [1] [9] [1]: ]( ![ [a](b) ![a](b) <a <img"
    " <!-- </a> <?x <![CDATA[ https:// http://evil.example www. www.evil.example ftp://e.example"
    " https://docs.example/help ``` ~~~ javascript: mailto:a@b.example [a]: &#93; `` ````"
    " 1. 2) | \\` |---|"
).split()
SPACES = [
    " ",
    "\n",
    "\n\n",
    "    ",
    "  ",
    "\t",
    "\r",
    "- ",
    "1. ",
    "\n   ",
    "> ",
    "\n```\n",
    "* * *",
]
hostile = st.lists(st.sampled_from([*MARKS, *SPACES]), max_size=40).map("".join)


def tokens_of(text: str) -> list[Token]:
    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(text)
    return [*tokens, *(child for token in tokens for child in token.children or [])]


def passed(pieces: list[str]) -> str:
    """Filter the pieces as every answer is filtered, and return them joined."""
    citations, markup = CitationFilter(3), MarkupFilter([PASSAGE])
    text = "".join(markup.feed(citations.feed(piece)) for piece in pieces)
    return text + markup.feed(citations.finish()) + markup.finish()


@example("[a][99](http://evil.example)", [4, 8])
@example("<https://docs.example/help>", [1])
@example("![99][1](x)", [1, 5])
@example("- ```\n  ```\n  [a](b)", [4])
@example("a\n2. ```\n   [a](b)", [])
@example("- ```\n[a](b)", [])
@example("a\n    ```\n    x ``` [a](b)\n    ```", [])
@example("a ` b\n` [a](b) `", [])
@example("| a |\n|---|\n| `a | b` c ` [a](b) ` |", [])
@example("```\na\n    ```\n```\n[a](b)", [])
@example("```\ra\r```\r[a](b)", [3, 5])
@given(hostile, st.lists(st.integers(0, 300), max_size=8))
def test_no_link_image_or_html_however_text_is_split(text: str, cuts: list[int]) -> None:
    ends = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[start:end] for start, end in pairwise(ends)]
    safe = passed(pieces)
    kinds = {token.type for token in tokens_of(safe)}
    assert not kinds & {"link_open", "image", "html_inline", "html_block"}
    assert "evil.example" not in safe
    assert safe == passed([text])
    assert passed(list(text)) == safe


@example("](", "[x", ["a"])
@given(hostile, hostile, st.lists(hostile, max_size=3))
def test_legend_below_an_answer_makes_no_links(text: str, title: str, sections: list[str]) -> None:
    hit = sample_hit(
        title=title, text=PASSAGE, section=sections, url="https://docs.example/a](http://evil)<img>"
    )
    (passage,) = number_passages([hit])
    said = legend([passage.source.cited()])
    assert said.startswith("\n\n[1] ")
    assert said.count("\n") == 2
    assert said.endswith(": https://docs.example/a%5D(http://evil)%3Cimg>")
    kinds = {token.type for token in tokens_of(passed([text]) + said)}
    assert not kinds & {"link_open", "image", "html_inline", "html_block"}


@given(st.text("abc .,?\n`#*|-[]=", max_size=60))
def test_plain_text_is_not_held_back(text: str) -> None:
    markup = MarkupFilter([])
    if "](" not in text and "![" not in text and not text.endswith("]"):
        assert markup.feed(text) == text
