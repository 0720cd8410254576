"""Every part of a split table has its header, and every part of split code is fenced."""

import pytest
from configurations import chunking
from hypothesis import given
from hypothesis import strategies as st

from foundry.chunking import chunk
from foundry.chunking.blocks import cut_blocks
from foundry.config.file import Strategy
from foundry.documents import Document, RawDocument
from foundry.readers import read

HEAD = "| Month | Gross |\n| --- | --- |\n"


def make_document(text: str) -> Document:
    document = read(RawDocument(source="s", key="a.md", path="a.md", content=text.encode()))
    assert isinstance(document, Document)
    return document


def table(count: int) -> str:
    return HEAD + "\n".join(f"| month {row} | ${row}.00 |" for row in range(count))


@pytest.mark.parametrize("strategy", ["headings", "recursive", "sentences", "parent", "page"])
@pytest.mark.parametrize("max_chars", [200, 1200])
def test_every_chunk_of_a_table_has_its_header(strategy: Strategy, max_chars: int) -> None:
    options = chunking(strategy, max_chars)
    text = f"# Sales\n\nWords above.\n\n{table(200)}\n\n## Next\n\nWords below.\n"
    document = cut_blocks(make_document(text), options)
    chunks = chunk(document, options)
    parts = [piece.text for piece in chunks if "| month" in piece.text]
    assert len(parts) > 3
    assert all(HEAD in part for part in parts)
    assert [row for part in parts for row in part.split("\n") if "| month" in row] == [
        f"| month {row} | ${row}.00 |" for row in range(200)
    ]
    for heading in document.reading.headings:
        assert document.reading.text[heading.start : heading.end].lstrip("# ") == heading.text
    assert chunks[-1].text.endswith("Words below.")
    assert all(document.reading.text[piece.start : piece.end] == piece.text for piece in chunks)


FUNCTION = (
    "def f{0}(value):\n    if value:\n        return {0}\n\n    return (\n        value\n    )"
)
CODE = "\n\n".join(FUNCTION.format(number) for number in range(40))


@pytest.mark.parametrize("strategy", ["headings", "recursive", "sentences", "parent", "page"])
@pytest.mark.parametrize(("prefix", "fence"), [("", "```"), ("  ", "~~~~"), ("> ", "```")])
def test_every_chunk_of_code_is_within_its_fence(
    strategy: Strategy, prefix: str, fence: str
) -> None:
    lines = [f"{fence}python", *CODE.split("\n"), fence]
    code = "\n".join(f"{prefix}{line}".rstrip() for line in lines)
    options = chunking(strategy, 400)
    document = cut_blocks(make_document(f"# Code\n\nWords above.\n\n{code}\n\nBelow.\n"), options)
    chunks = [piece.text for piece in chunk(document, options) if "def f" in piece.text]
    assert len(chunks) > 5
    found = []
    for text in chunks:
        within = text.split(fence)
        assert len(within) == 3, "what opens the code also closes it"
        language, *part = within[1].rstrip(" >\n").split("\n")
        assert language == "python"
        # Functions stay whole if they fit.
        assert part[0].startswith(f"{prefix}def f") and part[-1] == f"{prefix}    )"
        found += [line for line in part if line.strip(" >")]
    assert found == [f"{prefix}{line}" for line in CODE.split("\n") if line]


@pytest.mark.parametrize("strategy", ["headings", "recursive", "sentences", "parent", "page"])
@pytest.mark.parametrize("indent", ["    ", "\t", "        "])
def test_indented_code_keeps_its_indent_where_a_chunk_begins(
    strategy: Strategy, indent: str
) -> None:
    lines = [f"{indent}{line}" if line else "" for line in CODE.split("\n")]
    options = chunking(strategy, 400)
    text = "Words above.\n\n" + "\n".join(lines) + "\n\nBelow.\n"
    chunks = [piece.text for piece in chunk(cut_blocks(make_document(text), options), options)]
    assert sum(piece.startswith(indent) for piece in chunks) > 5
    found = [line for piece in chunks for line in piece.split("\n") if line.startswith(indent)]
    assert found == list(filter(None, lines))


def test_lines_of_code_without_a_better_place_are_cut_anywhere() -> None:
    lines = [f"  value {number:03}" for number in range(100)]
    document = make_document("```\n" + "\n".join(lines) + "\n```\n")
    options = chunking("headings", 100)
    parts = [piece.text for piece in chunk(cut_blocks(document, options), options)]
    # Of 100 characters, the fences take 8 and a line 12.
    assert [part.count("value") for part in parts] == [7] * 14 + [2]
    assert "\n".join(parts).replace("```\n", "").replace("\n```", "").split("\n") == lines


def test_a_long_line_of_code_has_a_part_of_its_own() -> None:
    code = "a = 1\n" + "b" * 500 + "\nc = 3"
    document = make_document(f"```\n{code}\n```\n")
    after = cut_blocks(document, chunking("headings", 100)).reading.text
    parts = ["```\na = 1\n```", "```\n" + "b" * 500 + "\n```", "```\nc = 3\n```"]
    assert after.strip() == "\n\n".join(parts)


def test_blocks_that_fit_or_are_not_split_do_not_change() -> None:
    small, large = make_document(table(10)), make_document(table(200))
    assert cut_blocks(small, chunking("headings")) is small
    assert cut_blocks(large, chunking("none")) is large
    fence = make_document("```\n" + table(20) + "\n```\n")
    assert cut_blocks(fence, chunking("headings")) is fence
    unclosed = make_document("```\n" + table(200))
    assert cut_blocks(unclosed, chunking("headings")) is unclosed


def test_a_header_that_is_too_long_is_not_repeated() -> None:
    wide = f"| {'a' * 700} | b |\n|---|---|\n" + "\n".join(f"| {n} | x |" for n in range(100))
    document = make_document(wide)
    assert cut_blocks(document, chunking("headings")) is document


@given(st.lists(st.sampled_from(["# H\n\n", "words\n\n", f"{table(60)}\n\n", "```\nx\n```\n\n"])))
def test_offsets_move_with_the_text(parts: list[str]) -> None:
    document = make_document("begin\n\n" + "".join(parts))
    moved = cut_blocks(document, chunking("headings", 300))
    before, after = document.reading, moved.reading
    assert [after.text[h.start : h.end] for h in after.headings] == [
        before.text[h.start : h.end] for h in before.headings
    ]
    kinds = {after.text[block.start : block.start + 3] for block in after.blocks}
    assert kinds <= {"```", "| M"}
    assert all(block.end <= len(after.text) for block in after.blocks)
