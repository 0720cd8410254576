"""Every part of a split list begins with its stem; lines and offsets do not count the copies."""

from itertools import pairwise

import pytest
from configurations import chunking
from conftest import CONFIG, MakeProject
from hypothesis import given, settings
from hypothesis import strategies as st

from foundry.chunking import chunk
from foundry.chunking.lists import repeat_stems
from foundry.config.file import Strategy
from foundry.documents import Chunk, Document, RawDocument
from foundry.readers import read
from foundry.runtime.index.documents import join_chunks
from foundry.runtime.index.records import ChunkRecord

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers", "forked_readers")

STEM = "No person may sell a device unless:"
RULE = f"""\
# Sales

Words above.

(a) Scope. {STEM}

(1) the seller has been licensed by whoever licenses sellers of such devices there;

(2) the device:

(i) was tested within the twelve months before by somebody who had been trained to do so;

(ii) bears the mark of its maker, which can still be read; and

(3) the buyer agrees to all of this.

(b) Records are kept for five years by whoever had to keep them, wherever they may be then.
"""


def make_document(text: str, path: str = "a.md") -> Document:
    document = read(RawDocument(source="s", key=path, path=path, content=text.encode()))
    assert isinstance(document, Document)
    return document


def split(
    text: str, strategy: Strategy = "headings", max_chars: int = 300, path: str = "a.md"
) -> list[Chunk]:
    options = chunking(strategy, max_chars, parent_max_chars=2 * max_chars)
    return chunk(repeat_stems(make_document(text, path), options), options)


def join(chunks: list[Chunk]) -> str:
    """The text of a document as its page shows it."""
    others = ("s", "a.md", None, [], None, [])
    return "".join(
        join_chunks(
            ChunkRecord(each.id, "d", "t", each.text, [], each.position(), *others)
            for each in chunks
        )
    )


def test_parts_of_a_nested_list_begin_with_the_stems_of_their_first_item() -> None:
    chunks = split(RULE, max_chars=200)
    assert [(each.text, each.line_start, each.line_end) for each in chunks] == [
        (
            f"# Sales\n\nWords above.\n\n(a) Scope. {STEM}\n\n(1) the seller has been licensed by "
            "whoever licenses sellers of such devices there;",
            *(1, 7),
        ),
        (
            f"{STEM}\n\n(2) the device:\n\n(i) was tested within the twelve months before by "
            "somebody who had been trained to do so;",
            *(9, 11),
        ),
        (
            f"{STEM}\n\n(2) the device:\n\n(ii) bears the mark of its maker, which can still be "
            "read; and\n\n(3) the buyer agrees to all of this.",
            *(13, 15),
        ),
        (
            "(b) Records are kept for five years by whoever had to keep them, wherever they may be "
            "then.",
            *(17, 17),
        ),
    ]
    assert join(chunks) == RULE.strip()


def test_outer_stems_are_left_out_first_if_all_of_them_are_too_long() -> None:
    outer = "Whoever sells devices of this kind to others shall not do so unless:"
    inner = "in addition to everything that is said above, the device itself:"
    items = [f"({mark}) {'word ' * 12}{number};" for number, mark in enumerate(("i", "ii", "iii"))]
    text = "\n\n".join([f"(a) {outer}", f"(1) {inner}", *items])
    first, *others = split(text, max_chars=260)
    assert outer in first.text
    assert others
    for each in others:
        assert inner in each.text
        assert outer not in each.text


@pytest.mark.parametrize(
    ("strategy", "mark"),
    [
        *(("headings", mark) for mark in ("- {}", "* {}", "{}. {}", "{}) {}", "({}) {}")),
        *((strategy, "- {}") for strategy in ("recursive", "sentences", "parent", "page")),
    ],
)
def test_every_part_of_a_list_has_its_stem(strategy: Strategy, mark: str) -> None:
    numbers = range(1, 41)
    items = [mark.format(*[number] * mark.count("{}")) + " is an item" for number in numbers]
    text = "\n".join(["# T", "", "Do not restart it if:", "", *items, "", "Below.", ""])
    chunks = split(text, strategy)
    parts = [each.text for each in chunks if "is an item" in each.text]
    assert len(parts) > 2
    assert all("Do not restart it if:" in part for part in parts)
    found = [line for part in parts for line in part.split("\n") if "is an item" in line]
    assert found == items
    assert join(chunks) == text.strip()


def test_parts_of_an_html_list_have_its_stem() -> None:
    items = "".join(f"<li>thing {number} that was asked for once</li>" for number in range(40))
    page = f"<html><body><h1>T</h1><p>Never remove:</p><ol>{items}</ol></body></html>"
    parts = [each.text for each in split(page, path="a.html") if "thing" in each.text]
    assert len(parts) > 2
    assert all("Never remove:" in part for part in parts)


def test_a_list_that_fits_stays_with_its_stem() -> None:
    filler = "Some words that fill the room above it. " * 6
    items = "\n\n".join(f"- thing {number} that was asked for" for number in range(6))
    chunks = split(f"{filler}\n\nKeep these:\n\n{items}\n")
    assert [each.text for each in chunks] == [filler.strip(), f"Keep these:\n\n{items}"]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("It ends here.\n\n" + "- thing that was asked for\n" * 40, "a.md"),
        ("keys:\n" + "  - thing that was asked for\n" * 40, "a.yml"),
        ("```\nkeys:\n" + "- thing that was asked for\n" * 10 + "```\n", "a.md"),
        (f"{'long ' * 100}:\n\n" + "- thing that was asked for\n" * 40, "a.md"),
    ],
)
def test_lists_without_a_stem_do_not_change(text: str, path: str) -> None:
    document = make_document(text, path)
    options = chunking("headings", 300)
    assert repeat_stems(document, options).reading.text == document.reading.text
    assert repeat_stems(make_document(RULE), chunking("none")).reading.repeated == ()


_PARTS = ["# H\n\n", "words here\n\n", "Only if:\n", "- one thing\n", "  - two things\n", "\n"]
_PARTS += ["(a) a thing:\n\n", "(1) one of them;\n\n", "(i) first\n", "```\nx\n```\n\n", "3. c\n"]


@settings(max_examples=75, deadline=None)
@given(st.lists(st.sampled_from(_PARTS), max_size=60))
def test_no_text_is_lost_and_line_numbers_are_right(parts: list[str]) -> None:
    text = "begin\n\n" + "".join(parts)
    document = make_document(text)
    chunks = split(text, max_chars=80)
    assert join(chunks).split() == document.reading.text.split()
    lines = document.reading.text.split("\n")
    for each in chunks:
        assert each.text.split("\n")[-1].strip() in lines[each.line_end - 1]
    assert all(one.line_end <= two.line_start for one, two in pairwise(chunks))


def test_hits_and_answers_quote_an_item_with_its_stem(make_project: MakeProject) -> None:
    items = [f"- paper number {number} lies in the office of the county;" for number in range(60)]
    items.insert(50, "- the zebra permit is on the wall.")
    text = "\n".join(["# Sales", "", STEM, "", *items, ""])
    project = make_project({"rule.md": text}, config=f"{CONFIG}\n[chunking]\nmax_chars = 1200\n")
    project.succeed("build")
    hit = project.ask("zebra permit wall")["results"][0]
    assert STEM in hit["text"]
    assert STEM in hit["snippet"]
    assert "zebra permit" in hit["snippet"]
