"""Quotations contain exactly the text that a Markdown renderer shows of a passage.

markdown-it renders both. Every block of a quotation, split at omission marks, must occur in the
rendered passage.
"""

import re
from collections.abc import Iterator

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from foundry.runtime.chat.quoting.quotes import quote_units
from foundry.runtime.chat.quoting.unit import Unit
from foundry.runtime.chat.quoting.units import read_units

PARSER = MarkdownIt("commonmark").enable("table")
TEXTS = (
    "The gap is [5-20] mm wide.",
    "Read `argv[0]` first.",
    "Read argv[0] and argv[1] of it.",
    "Use [0-9]{3} or [A-Z][a-z]+ here.",
    "Write `std::vector<int> v;` now.",
    "Add #include <vector> above.",
    "A List[int] of them.",
    "If a < b > c holds, stop.",
    "Heat it within [0, 100] percent.",
    "Press [3] to go on.",
    "Take 2*3*4 of it.",
    "Call __init__ and __call__ of it.",
    "Set max_pool_size to `**kw`.",
    "It is **very** heavy, *so* wait.",
    "See [the guide](https://a.example/b) for it.",
    "Write ``a `b` c`` twice.",
    "Stop a ` here.",
    "It reads `a, [1]` and `&lt;[2].` here.",
    "Escape \\*this\\* and a\\_b.",
    'Call f(a)[b](c) and map["k"](1) once.',
    "It is <b>old</b> here.",
    "The price is 5 \\| 6 of it.",
    "Never open it unless:",
    "To remove it, run:",
    "Run:",
    "Turn it off.",
    "Is it new?",
    "In 1986. A good year.",
    "# is a sign.",
    "> is greater.",
    "Use ~~old~~ new ones.",
    "a &lt; b &amp; c.",
    "The path is C:\\dir\\new.",
    "It cost 5 $ * 6 $ then.",
    "Made of wood ^abc12",
)
LINES = ("$ uv remove x", "    indented **x**", "<img src=x>", "``` not the end", "", "a[0] = [1]")

sentences = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3).map(" ".join)
fences = st.lists(st.sampled_from(LINES), min_size=1, max_size=14).map(
    lambda lines: "\n".join(["````sh", *lines, "````"])
)
lists = st.tuples(
    st.sampled_from(["-", "*", "1."]), st.lists(sentences, min_size=1, max_size=8)
).map(lambda drawn: "\n".join(f"{drawn[0]} {item}" for item in drawn[1]))
cells = st.sampled_from([text for text in TEXTS if "|" not in text and not text.endswith("^abc12")])
tables = st.lists(st.tuples(cells, cells), min_size=2, max_size=5).map(
    lambda rows: "\n".join(["| One | Two |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)])
)
blocks = st.one_of(sentences, sentences, fences, lists, tables)
callouts = st.lists(blocks, min_size=1, max_size=3).map(
    lambda drawn: "\n".join(f"> {line}".rstrip() for line in "\n\n".join(drawn).split("\n"))
)
passages = st.lists(st.one_of(blocks, blocks, callouts), min_size=1, max_size=6).map("\n\n".join)


def plain(text: str) -> str:
    # Block ids, tags and marks are ignored, even where a mark is text, as in `2*3*4`.
    return "".join(re.sub(r"\^abc12|</?b>|[*_`\\]", "", text).split())


def rendered(text: str) -> Iterator[str]:
    """Return each rendered block without white space."""
    for token in PARSER.parse(text):
        if token.type in ("fence", "code_block", "html_block"):
            yield plain(token.content)
        elif token.type == "inline":
            yield plain("".join(map(shown, token.children or [])))


def shown(token: Token) -> str:
    return "".join(map(shown, token.children)) if token.children else token.content or " "


@settings(max_examples=150, deadline=None)
@example("Use it.\n\n```sh\n" + "$ run\n" * 14 + "```", [0])
@example("> Never open it unless:\n>\n> - it is off\n> - it is cold", [1, 2])
@given(passages, st.lists(st.integers(0, 30), min_size=1, max_size=4))
def test_quotations_are_parts_of_the_rendered_passage(passage: str, places: list[int]) -> None:
    units = read_units(passage)
    chosen = [units[place] for place in places if place < len(units)]
    # A function call is not a link.
    whole = "".join(rendered(passage.replace("f(a)[b]", "f(a)\\[b]").replace('["k"]', '\\["k"]')))
    for quote in quote_units(units, chosen, len):
        answer = quote.cite("[7]")
        tokens = PARSER.parse(answer)
        inline = [child.type for token in tokens for child in token.children or []]
        assert not {"link_open", "image", "html_inline"} & {*inline}
        assert "html_block" not in {token.type for token in tokens}
        for block in rendered(answer):
            for stretch in block.replace("[7]", "").split("\u2026"):
                assert stretch in whole, (stretch, answer)


@settings(max_examples=50, deadline=None)
@given(passages)
def test_every_quotation_is_cited_once_and_nothing_is_quoted_twice(passage: str) -> None:
    units = read_units(passage)
    quotes = [quote.cite("[7]") for quote in quote_units(units, units, len)]
    assert all(quote.count("[7]") == 1 for quote in quotes)
    roots = {id(root_of(unit)) for unit in units if unit.kind != "row" or unit.stem}
    assert len(quotes) <= len(roots) + sum(unit.kind == "row" for unit in units)


def root_of(unit: Unit) -> Unit:
    while unit.stem:
        unit = unit.stem
    return unit
