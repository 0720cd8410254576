"""The links between documents, as a build writes them."""

from pathlib import Path

from small_indexes import Note, write_notes

from foundry.indexing.versions import open_index
from foundry.runtime.retrieval.stages.links import open_graph


def test_links_are_read_from_an_index(tmp_path: Path) -> None:
    notes = [Note("A", ("one",), (1, 2)), Note("B", ("two",), (2,)), Note("C", ("three",))]
    with_links = open_index(write_notes(tmp_path / "index", notes, vectors=False))
    graph = open_graph(with_links)
    assert [graph.neighbours(number, 10) for number in range(3)] == [[1, 2], [2, 0], [0, 1]]
