"""A model's output is unchanged, except for citations and markup outside code."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from foundry.runtime.chat.model_text import CitationFilter, MarkupFilter

PASSAGES = 3

CODE = st.sampled_from(
    "argv[0]|[0-9]{3}|std::vector<int> v;|List[int]|a[i](x)|[5-20] mm|#include <vector>"
    "|m[7][8] = b[12]|![ -f a ]|<img>|[[ -n $x ]]|[1]|dict[str, list[int]](x)|【1】|[^1]|http://localhost:8080/a"
    "|[9]: x|a < b <c>".split("|")
)
SAME = (
    "The gap.|Heat it|is [5-20] mm wide|[0, 100] percent|argv[0]|x[12]|match [0-9]{3} here"
    "|a[0] = b[12]|in [2024]|List[int]|[10, 200]|[^0-9]|[x]|[] and"
).split("|")
# Each text as written and as it should be shown, according to CommonMark and to what the
# documentation promises.
PROSE = st.sampled_from(
    [
        *((same, same) for same in SAME),
        ("so it is [1]", "so it is [1]"),
        ("so it is[2]", "so it is[2]"),
        ("so it is [9]", "so it is"),
        ("both [1, 3]", "both [1][3]"),
        ("all [1-3]", "all [1][2][3]"),
        ("seal【1】", "seal[1]"),
        ("a seal 【1†source】", "a seal [1]"),
        ("a seal 【4:0†source】", "a seal"),
        ("a seal [2†L1-L5]", "a seal [2]"),
        ("a seal[^1]", "a seal[1]"),
        ("a seal [^1^]", "a seal [1]"),
        ("a seal [Passage 2]", "a seal [2]"),
        ("a seal [Source 1, Source 3]", "a seal [1][3]"),
        ("see [a](b)", "see [a] (b)"),
        ("an ![i](b)", "an ! [i] (b)"),
        ("some <b>bold</b>", "some < b>bold< /b>"),
    ]
)


@st.composite
def answers(draw: st.DrawFn) -> tuple[str, str]:
    """An answer, and how it should be shown."""
    written, shown = "", ""
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["text", "item", "fence", "item fence"]))
        if "fence" in kind:
            mark = draw(st.sampled_from(["```", "~~~", "````"]))
            start, indent = ("1. Run\n\n   ", "   ") if kind == "item fence" else ("", "")
            lines = [f"{mark}c", *draw(st.lists(CODE, min_size=1, max_size=3)), mark]
            block = start + f"\n{indent}".join(lines) + "\n\n"
            written, shown = written + block, shown + block
            continue
        begun = "- " if kind == "item" else ""
        written, shown = written + begun, shown + begun
        for _ in range(draw(st.integers(1, 4))):
            if draw(st.booleans()):
                code, ticks = draw(CODE), draw(st.sampled_from(["`", "``"]))
                said = readable = f"use {ticks}{code}{ticks}"
            else:
                said, readable = draw(PROSE)
            end = draw(st.sampled_from([". ", ", ", "; "]))
            written, shown = written + said + end, shown + readable + end
        written, shown = written.rstrip() + "\n\n", shown.rstrip() + "\n\n"
    return written, shown


def passed(pieces: list[str]) -> str:
    """Filter the pieces as every answer is filtered, and return them joined."""
    citations, markup = CitationFilter(PASSAGES), MarkupFilter([])
    text = "".join(markup.feed(citations.feed(piece)) for piece in pieces)
    return text + markup.feed(citations.finish()) + markup.finish()


def code_of(text: str) -> list[str]:
    """The code in a text, as found by an independent Markdown parser."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    every = (child for token in tokens for child in [token, *(token.children or [])])
    return [token.content for token in every if token.type in ("code_inline", "fence")]


@given(answers(), st.lists(st.integers(0, 400), max_size=8))
def test_only_citations_and_marks_change_however_text_is_split(
    answer: tuple[str, str], cuts: list[int]
) -> None:
    written, shown = answer
    ends = sorted({0, len(written), *(cut for cut in cuts if cut < len(written))})
    pieces = [written[start:end] for start, end in pairwise(ends)]
    assert passed(pieces) == shown
    assert passed([*written]) == shown
    assert code_of(shown) == code_of(written)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("`a [1]\nb`", "`a [1]\nb`"),
        ("In `x <y` and ` <z", "In `x <y` and ` < z"),
        ("> ```\n> a[0](b)\n> ```\n> [a](b)", "> ```\n> a[0](b)\n> ```\n> [a] (b)"),
        ("```\na[9]\n```\nSo [9].", "```\na[9]\n```\nSo."),
        ("```\na[9](b)", "```\na[9](b)"),
        ("`" + "x" * 500 + "` [a](b)", "`" + "x" * 500 + "` [a] (b)"),
        ("x" * 9000 + " [a](b) `<c`", "x" * 9000 + " [a] (b) `< c`"),
        ("```\n" + "x <y " * 3000 + "\n```\n<z", "```\n" + "x <y " * 3000 + "\n```\n< z"),
        ("`curl https://a.example`", "`curl https[:]//a[.]example`"),
        ("`curl http://127.0.0.1:80/a`", "`curl http://127.0.0.1:80/a`"),
        ("`http://<host>/` or `https://$HOST/v1`", "`http://<host>/` or `https://$HOST/v1`"),
        ("密封[1]和[9]。", "密封[1]和。"),
        ("It is [1-3] mm.\r\nSo [2].", "It is [1-3] mm.\r\nSo [2]."),
        ("It is [2\u20139] here, [2\u20139].", "It is [2\u20139] here, [2][3]."),
    ],
)
def test_edge_cases(written: str, shown: str) -> None:
    assert passed([written]) == passed([*written]) == shown


@given(st.text("`~ab <>[]()1\n-\t \\|", max_size=60))
def test_code_is_recognised_as_by_a_markdown_parser(text: str) -> None:
    markup = MarkupFilter([])
    shown = markup.feed(text) + markup.finish()
    # A remaining mark is inside code.
    left = len(re.findall(r"\](?=[(:])|!(?=\[)|<(?=[A-Za-z/!?])", shown))
    assert left <= sum(
        len(re.findall(r"\](?=[(:])|!(?=\[)|<(?=[A-Za-z/!?])", code)) for code in code_of(shown)
    )
