"""Linked documents among the results, with numbers computed by hand."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import pytest
from samples import sample_candidates

from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.index.layout import IndexLayout
from foundry.runtime.retrieval.candidates import Candidates
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.stages.links import LinkGraph, add_linked, open_graph


class FakeIndex:
    """Six documents of two chunks each; document i has the chunks 2 i and 2 i + 1."""

    manifest = SimpleNamespace(documents=6)
    first_chunks = np.arange(0, 13, 2, dtype=np.uint64)

    def __init__(self, *links: list[int]) -> None:
        offsets = np.cumsum([0, *(len(targets) for targets in links)]).astype(np.uint64)
        flat = np.array([target for targets in links for target in targets], dtype=np.uint32)
        self.graph = LinkGraph.of(offsets, flat)

    def part(self, kind: object) -> Self | LinkGraph:
        return self.graph if kind is open_graph else self

    def chunk(self, number: int) -> SimpleNamespace:
        return SimpleNamespace(id=f"c{99 - number}")


def candidates(scores: dict[int, float], *, semantic: bool = True) -> Candidates:
    chunks = np.array(sorted(scores), dtype=np.int64)
    values = [scores[chunk] for chunk in sorted(scores)]
    ranks = np.arange(1, len(chunks) + 1)
    found = sample_candidates(
        values, chunks=chunks, keyword=values, semantic_ranks=ranks, keyword_ranks=ranks
    )
    return replace(found, semantic=found.scores) if semantic else found


def link(
    index: FakeIndex, found: Candidates, allowed: Any = None, **options: Any
) -> tuple[dict[int, float], Candidates, Journal]:
    journal = Journal()
    chosen = {"seeds": 10, "neighbours": 10, "factor": 0.5, **options}
    linked = add_linked(found, index, allowed, journal, **chosen)  # type: ignore[arg-type]
    scores = dict(zip(linked.chunks.tolist(), linked.scores.tolist(), strict=True))
    return scores, linked, journal


def test_a_linked_document_comes_below_what_was_found() -> None:
    index = FakeIndex([3], [4], [], [], [], [])
    scores, linked, journal = link(index, candidates({0: 0.8, 2: 0.5}))
    # The first chunks of the linked documents get half of 0.8 and half of 0.5.
    assert scores == {0: 0.8, 2: 0.5, 6: 0.4, 8: 0.25}
    assert list(linked.boosts["links"]) == [1, 1, 0.5, 0.5]
    assert journal.stages == {"links": {"documents": 2}}
    # No lane has scored the linked chunks.
    lanes = [(linked.semantic, linked.semantic_ranks), (linked.keyword, linked.keyword_ranks)]
    for values, ranks in lanes:
        assert values is not None and values[:2].tolist() == [0.8, 0.5]
        assert np.isnan(values[2:]).all()
        assert list(ranks) == [1, 2, 0, 0]


def test_how_much_of_the_query_was_found_is_still_known() -> None:
    found = replace(candidates({0: 0.8}), coverage=0.5)
    assert link(FakeIndex([3], [], [], [], [], []), found)[1].coverage == 0.5


def test_it_never_passes_the_weakest_seed() -> None:
    index = FakeIndex([3], [], [], [], [], [])
    scores, _, _ = link(index, candidates({0: 0.8, 2: 0.3}))
    assert scores[6] == pytest.approx(0.3 - 1e-6)


def test_candidates_below_the_seeds_may_be_passed() -> None:
    index = FakeIndex([3], [], [], [], [], [])
    scores, linked, _ = link(index, candidates({0: 0.8, 2: 0.6, 4: 0.3, 6: 0.1, 7: 0.2}), seeds=2)
    # The linked document is represented by its best chunk.
    assert scores == {0: 0.8, 2: 0.6, 4: 0.3, 6: 0.1, 7: 0.4}
    assert list(linked.boosts["links"]) == [1, 1, 1, 1, 0.5]


def test_what_scores_higher_by_itself_keeps_its_score() -> None:
    index = FakeIndex([3], [], [], [], [], [])
    found = candidates({0: 0.8, 2: 0.7, 6: 0.5})
    scores, linked, journal = link(index, found, seeds=2)
    assert scores == {0: 0.8, 2: 0.7, 6: 0.5}
    assert linked is found and not journal.stages


def test_the_best_of_several_seeds_counts_and_seeds_are_left_alone() -> None:
    index = FakeIndex([1, 3], [0, 3], [], [], [], [])
    scores, _, _ = link(index, candidates({0: 0.6, 2: 0.8}))
    assert scores == {0: 0.6, 2: 0.8, 6: 0.4}


def test_what_links_to_a_result_comes_as_well() -> None:
    index = FakeIndex([], [], [], [0, 1], [], [0])
    scores, _, journal = link(index, candidates({0: 0.8, 2: 0.6}))
    # Documents 3 and 5 link to the first, so they get half of 0.8.
    assert scores == {0: 0.8, 2: 0.6, 6: 0.4, 10: 0.4}
    assert journal.stages == {"links": {"documents": 2}}


def test_neighbours_come_from_both_directions_in_turn() -> None:
    graph = FakeIndex([5, 4, 1], [0, 5], [0], [0, 2], [], []).graph
    assert graph.neighbours(0, 10) == [5, 1, 4, 2, 3]
    assert graph.neighbours(0, 3) == [5, 1, 4]
    assert graph.neighbours(0, 1) == [5]
    assert graph.neighbours(2, 10) == [0, 3]
    assert graph.neighbours(5, 10) == [0, 1]


@pytest.mark.parametrize("seed", range(20))
def test_neighbours_are_all_that_a_link_joins(seed: int) -> None:
    joined = np.random.default_rng(seed).random((6, 6)) < 0.3
    graph = FakeIndex(*(np.flatnonzero(row).tolist() for row in joined)).graph
    for number in range(6):
        expected = {*np.flatnonzero(joined[number] | joined[:, number]).tolist()}
        assert {*graph.neighbours(number, 12)} == expected
        assert len(graph.neighbours(number, 2)) == min(2, len(expected))
    some = np.array([True, True, False, True, True, False])
    within = graph.within(some)
    # In `within`, documents 0, 1, 3 and 4 have the numbers 0 to 3.
    among = joined[some][:, some]
    for number in range(4):
        expected = {*np.flatnonzero(among[number] | among[:, number]).tolist()}
        assert {*within.neighbours(number, 12)} == expected


def test_limits_and_filters() -> None:
    index = FakeIndex([3, 4, 5], [], [], [], [], [])
    allowed = np.ones(12, dtype=np.bool_)
    allowed[6:8] = False
    scores, _, _ = link(index, candidates({0: 0.8}), allowed, neighbours=2)
    assert set(scores) == {0, 8}


def test_a_document_without_chunks_is_passed_over() -> None:
    index = FakeIndex([3], [], [], [], [], [])
    index.first_chunks = np.array([0, 2, 4, 6, 6, 8, 10], dtype=np.uint64)
    found = candidates({0: 0.8})
    assert link(index, found)[1] is found


def test_links_are_read_from_an_index(tmp_path: Path) -> None:
    layout = IndexLayout(tmp_path)
    np.save(layout.link_offsets, np.array([0, 2, 3, 3], dtype=np.uint64))
    np.save(layout.link_targets, np.array([1, 2, 2], dtype=np.uint32))
    index: Any = SimpleNamespace(layout=layout, manifest=SimpleNamespace(documents=3))
    graph = open_graph(index)
    assert [graph.neighbours(number, 10) for number in range(3)] == [[1, 2], [2, 0], [0, 1]]
    index.manifest.documents = 4
    with pytest.raises(IndexUnusableError, match="expected uint64"):
        open_graph(index)


def test_nothing_found_links_nowhere() -> None:
    empty = candidates({})
    assert link(FakeIndex([], [], [], [], [], []), empty)[1] is empty


def test_keyword_results_have_links_too() -> None:
    index = FakeIndex([3], [], [], [], [], [])
    _, linked, _ = link(index, candidates({0: 1.0}, semantic=False))
    assert linked.semantic is None and linked.chunks.tolist() == [0, 6]
