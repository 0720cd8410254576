"""Parent passages joined from handmade chunks."""

from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from samples import sample_chunk, sample_hit

from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.passages import find_passages
from foundry.runtime.retrieval.stages.parents import expand_parents


def record(
    number: int, *, document: str = "d", parent: int | None, section: tuple[str, ...] = ("A",)
) -> ChunkRecord:
    """A chunk of ten characters on its own line."""
    start = number * 11
    position = {
        "start": start,
        "end": start + 10,
        "line_start": number + 1,
        "line_end": number + 1,
    }
    if parent is not None:
        position |= {"parent_start": parent, "parent_end": parent + 100}
    return sample_chunk(
        id=f"c{number}",
        document_id=document,
        text=f"chunk {number:04}",
        section=list(section),
        position=position,
    )


CHUNKS = [
    record(0, parent=0, section=("A", "B", "C")),
    record(1, parent=0, section=("A", "B", "D")),
    record(2, parent=0, section=("A", "E", "C")),
    record(3, parent=22),
    record(4, parent=None),
    # In another document, a parent begins at the offset 22 too.
    record(5, document="e", parent=22),
]


class FakeIndex:
    """An index of handmade chunks; `asked` records the numbers read together."""

    def __init__(self, chunks: Sequence[ChunkRecord], *, alike: Sequence[int] = ()) -> None:
        documents = [chunk.document_id for chunk in chunks]
        firsts = [number for number, name in enumerate(documents) if name not in documents[:number]]
        self._chunks, self._alike = chunks, alike
        self._documents = SimpleNamespace(first_chunks=np.array([*firsts, len(chunks)], np.uint64))
        self.chunk_lines = SimpleNamespace(numbers=self._numbers)
        self.asked: list[list[int]] = []

    def _numbers(self, name: str) -> list[int]:
        """The chunks with this id, plus those in `alike`, as if their hashes collided."""
        return [n for n, one in enumerate(self._chunks) if one.id == name or n in self._alike]

    def part(self, _kind: object) -> SimpleNamespace:
        return self._documents

    def chunks(self, numbers: Iterable[int]) -> Iterator[ChunkRecord]:
        self.asked.append([*numbers])
        return map(self._chunks.__getitem__, self.asked[-1])


def index_of(chunks: Sequence[ChunkRecord], *, alike: Sequence[int] = ()) -> Any:
    return FakeIndex(chunks, alike=alike)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_passage_has_all_chunks_of_its_parent(number: int) -> None:
    [passage] = find_passages(index_of(CHUNKS), [CHUNKS[number]])
    assert passage is not None
    assert passage.text.split() == "chunk 0000 chunk 0001 chunk 0002".split()
    assert passage.section == ["A"]
    assert passage.position == {"start": 0, "end": 100, "line_start": 1, "line_end": 3}


def test_neighbours_with_other_parents_are_left_out() -> None:
    for number in (3, 5):
        [passage] = find_passages(index_of(CHUNKS), [CHUNKS[number]])
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
        [passage] = find_passages(index_of(chunks), chunks[:1])
        assert passage is not None and passage.section == common


def test_what_has_no_parent_or_is_of_another_index_has_no_passage() -> None:
    index = index_of(CHUNKS)
    assert find_passages(index, [CHUNKS[4], record(9, parent=0)]) == [None, None]
    assert index.asked == []
    assert find_passages(index_of(CHUNKS, alike=(1, 2)), [record(9, parent=0)]) == [None]


def test_ids_of_which_hashes_are_the_same_are_told_apart() -> None:
    whole = find_passages(index_of(CHUNKS), [CHUNKS[0]])
    assert find_passages(index_of(CHUNKS, alike=(3, 4)), [CHUNKS[0]]) == whole


def test_neighbours_of_all_chunks_are_read_together() -> None:
    index = index_of(CHUNKS)
    assert None not in find_passages(index, [CHUNKS[1], CHUNKS[5], CHUNKS[3]])
    # As many chunks as a parent of 100 characters can have on each side, plus the next one.
    assert index.asked == [[0, 2, 3, 4, 2, 1, 4]]


def test_a_parent_of_more_chunks_than_expected_is_read_to_its_end() -> None:
    chunks = [record(number, parent=0) for number in range(40)]
    index = index_of(chunks)
    [passage] = find_passages(index, [chunks[0]])
    assert passage is not None
    assert passage.text.split()[1::2] == [f"{number:04}" for number in range(40)]
    assert index.asked == [[*range(start, min(start + 10, 40))] for start in range(1, 40, 10)]


def test_each_parent_is_given_with_its_best_chunk() -> None:
    journal = Journal()
    hits = [
        sample_hit(**CHUNKS[number].to_json(), score=0.9 - place / 10)
        for place, number in enumerate((4, 1, 0, 4, 5, 3, 2))
    ]
    index = index_of(CHUNKS)
    shown = list(expand_parents(hits, 4, index, journal))
    assert index.asked == [[0, 2, 3, 4], [2, 1, 4]]
    assert [hit.id for hit in shown] == ["c4", "c1", "c4", "c5", "c3"]
    assert [hit.passage is None for hit in shown] == [True, False, True, False, False]
    assert [hit.score for hit in shown] == pytest.approx([0.9, 0.8, 0.6, 0.5, 0.4])
    assert journal.stages == {"parents": {"merged": 2}}
