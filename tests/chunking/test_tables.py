"""A table that is cut says in every part what its columns are."""

import pytest
from configurations import chunking
from hypothesis import given
from hypothesis import strategies as st

from foundry.chunking import chunk
from foundry.chunking.tables import repeat_headers
from foundry.config.file import Strategy
from foundry.readers import read
from foundry.records import Document, RawDocument

HEAD = "| Month | Gross |\n| --- | --- |\n"


def make_document(text: str, path: str = "a.md") -> Document:
    document = read(RawDocument(source="s", key=path, path=path, content=text.encode()))
    assert isinstance(document, Document)
    return document


def table(count: int) -> str:
    return HEAD + "\n".join(f"| month {row} | ${row}.00 |" for row in range(count))


@pytest.mark.parametrize("strategy", ["headings", "recursive", "sentences", "parent", "page"])
@pytest.mark.parametrize("max_chars", [200, 1200])
def test_every_chunk_of_a_table_has_its_header(strategy: Strategy, max_chars: int) -> None:
    options = chunking(strategy, max_chars)
    text = f"# Sales\n\nWords above.\n\n{table(200)}\n\n## Next\n\nWords below.\n"
    document = repeat_headers(make_document(text), options)
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


def test_what_fits_or_is_not_to_be_split_stays_as_it_is() -> None:
    small, large = make_document(table(10)), make_document(table(200))
    assert repeat_headers(small, chunking("headings")) is small
    assert repeat_headers(large, chunking("none")) is large
    fence = make_document("```\n" + table(200) + "\n```\n")
    assert repeat_headers(fence, chunking("headings")) is fence


def test_a_header_that_would_fill_the_chunks_is_not_repeated() -> None:
    wide = f"| {'a' * 700} | b |\n|---|---|\n" + "\n".join(f"| {n} | x |" for n in range(100))
    document = make_document(wide)
    assert repeat_headers(document, chunking("headings")) is document


@given(st.lists(st.sampled_from(["# H\n\n", "words\n\n", f"{table(60)}\n\n", "```\nx\n```\n\n"])))
def test_offsets_move_with_the_text(parts: list[str]) -> None:
    document = make_document("begin\n\n" + "".join(parts))
    moved = repeat_headers(document, chunking("headings", 300))
    before, after = document.reading, moved.reading
    assert [after.text[h.start : h.end] for h in after.headings] == [
        before.text[h.start : h.end] for h in before.headings
    ]
    kinds = {after.text[block.start : block.start + 3] for block in after.blocks}
    assert kinds <= {"```", "| M"}
    assert all(block.end <= len(after.text) for block in after.blocks)
