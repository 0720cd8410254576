"""Parents put together from chunks made by hand."""

from types import SimpleNamespace
from typing import Any

import pytest

from foundry.runtime.index.reader import make_record
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.results import Hit, LaneRanks, LaneScores
from foundry.runtime.retrieval.stages.parents import expand_parents, find_passage

# What hits say of lanes and boosts, of which some servers have fewer.
NOWHERE: dict[str, None] = {
    # [vectors
    "semantic": None,
    # ]
    "keyword": None,
}
BOOSTS: list[dict[str, float]] = [
    # [vectors or boosts
    {},
    # ]
]


def record(
    number: int, *, document: str = "d", parent: int | None, section: tuple[str, ...] = ("A",)
) -> ChunkRecord:
    """A chunk of ten characters on a line of its own."""
    start = number * 11
    position = {
        "start": start,
        "end": start + 10,
        "line_start": number + 1,
        "line_end": number + 1,
    }
    if parent is not None:
        position |= {"parent_start": parent, "parent_end": parent + 100}
    return ChunkRecord(
        id=f"c{number}",
        document_id=document,
        title="t",
        text=f"chunk {number:04}",
        section=list(section),
        position=position,
        source="s",
        path="p",
        url=None,
        tags=[],
        modified=None,
        also_at=[],
    )


CHUNKS = [
    record(0, parent=0, section=("A", "B", "C")),
    record(1, parent=0, section=("A", "B", "D")),
    record(2, parent=0, section=("A", "E", "C")),
    record(3, parent=22),
    record(4, parent=None),
    # Of another document, whose parent begins where that of the one before it does.
    record(5, document="e", parent=22),
]


def index_of(chunks: list[ChunkRecord]) -> Any:
    documents = {
        name: SimpleNamespace(
            chunk_start=min(n for n, c in enumerate(chunks) if c.document_id == name),
            chunks=sum(c.document_id == name for c in chunks),
        )
        for name in {chunk.document_id for chunk in chunks}
    }

    def place_of(document: Any, chunk_id: str) -> int | None:
        for number, chunk in enumerate(chunks[document.chunk_start :]):
            if chunk.id == chunk_id:
                return number
        return None

    contents = SimpleNamespace(find=documents.get, place_of=place_of)
    return SimpleNamespace(
        part=lambda _kind: contents,
        chunk=chunks.__getitem__,
        manifest=SimpleNamespace(chunks=len(chunks)),
    )


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_passage_has_all_chunks_of_its_parent(number: int) -> None:
    passage = find_passage(index_of(CHUNKS), CHUNKS[number])
    assert passage is not None
    assert passage.text.split() == "chunk 0000 chunk 0001 chunk 0002".split()
    assert passage.section == ["A"]
    assert passage.position == {"start": 0, "end": 100, "line_start": 1, "line_end": 3}


def test_neighbours_with_other_parents_are_left_out() -> None:
    for number in (3, 5):
        passage = find_passage(index_of(CHUNKS), CHUNKS[number])
        assert passage is not None
        assert passage.text == f"chunk {number:04}"
        assert passage.position["line_start"] == passage.position["line_end"] == number + 1


def test_common_section_ends_where_two_headings_differ() -> None:
    for sections, common in (
        ((("A", "B"), ("A", "B")), ["A", "B"]),
        ((("A", "B"), ("A",)), ["A"]),
        ((("A", "B", "X"), ("A", "C", "X")), ["A"]),
        ((("A",), ("B",)), []),
    ):
        chunks = [record(n, parent=0, section=section) for n, section in enumerate(sections)]
        passage = find_passage(index_of(chunks), chunks[0])
        assert passage is not None and passage.section == common


def test_what_has_no_parent_or_is_of_another_index_has_no_passage() -> None:
    index = index_of(CHUNKS)
    assert find_passage(index, CHUNKS[4]) is None
    assert find_passage(index, record(9, parent=0)) is None
    assert find_passage(index, record(0, document="nowhere", parent=0)) is None


def test_each_parent_is_given_with_its_best_chunk() -> None:
    journal, nowhere = Journal(), (LaneScores(**NOWHERE), LaneRanks(**NOWHERE), *BOOSTS)
    hits = [
        make_record(Hit, CHUNKS[number].to_json(), 0.9 - place / 10, *nowhere)
        for place, number in enumerate((4, 1, 0, 4, 5, 3, 2))
    ]
    shown = list(expand_parents(hits, index_of(CHUNKS), journal))
    assert [hit.id for hit in shown] == ["c4", "c1", "c4", "c5", "c3"]
    assert [hit.passage is None for hit in shown] == [True, False, True, False, False]
    assert [hit.score for hit in shown] == pytest.approx([0.9, 0.8, 0.6, 0.5, 0.4])
    assert journal.stages == {"parents": {"merged": 2}}
