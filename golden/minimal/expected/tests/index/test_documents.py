"""Documents as returned, and their texts joined from chunks without repetitions."""

import json

from pydantic import TypeAdapter
from samples import sample_chunk

from workshop.index.documents import DocumentAnswer, DocumentRecord, join_chunks


def joined(*chunks: tuple[int, str, int]) -> str:
    """Return the joined text of chunks, each given by its offset, text and first line."""
    return "".join(
        join_chunks(
            sample_chunk(
                text=text,
                position={
                    "start": start,
                    "end": start + len(text),
                    "line_start": line,
                    "line_end": line + text.count("\n"),
                },
            )
            for start, text, line in chunks
        )
    )


def test_overlap_is_given_once() -> None:
    assert joined((0, "one two", 1), (4, "two three", 1)) == "one two three"
    assert joined((0, "one two three", 1), (4, "two", 1), (14, "four", 1)) == "one two three four"


def test_gap_is_a_space_or_at_most_an_empty_line() -> None:
    assert joined((0, "a", 1), (5, "b", 1)) == "a b"
    assert joined((0, "a", 1), (5, "b", 2)) == "a\nb"
    assert joined((0, "a", 1), (5, "b", 9)) == "a\n\nb"


def test_nothing_is_nothing() -> None:
    assert joined() == ""


def test_number_of_the_first_chunk_stays_within() -> None:
    document = DocumentRecord(
        "d1", "Pump", "docs", "pump.md", None, "text/markdown", "0" * 64, 9, None, [], {}, "md", [],
        chunks=2, chunk_start=7,
    )  # fmt: skip
    assert "chunk_start" not in document.to_json()
    TypeAdapter(DocumentAnswer).validate_json(json.dumps(document.to_json()), strict=True)
