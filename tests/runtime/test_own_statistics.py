"""Scores in a view with its own statistics equal those of an index of only its documents."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_indexes import Note, make_document, write_documents, write_notes

from foundry.config.search import IndexOptions
from foundry.indexing.versions import open_index
from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.index.heading_terms import query_terms
from foundry.runtime.index.reader import Index, OpenedIndex
from foundry.runtime.retrieval import dense_lane
from foundry.runtime.retrieval.own_statistics import TermCounts, view_by_own_statistics

OPTIONS = IndexOptions(filterable=("team",), own_statistics=True)
CORE, BOARD = {"team": "core"}, {"team": "board"}
NOTES = [
    Note("Pump", ("The pump is oiled, and oiled again.",), metadata=CORE),
    Note("Pump", ("A pump of the board, its pump and its seal.",), metadata=BOARD),
    Note("D40: the lamp", ("A lamp and a seal, of D40.", "More of lamps."), metadata=CORE),
    Note("Minutes", ("The board met. " * 20, "Lamps."), metadata=BOARD),
    Note("Seal", ("The seal is of rubber, and max_size is set.",), metadata=CORE),
]
QUERIES = ("pump", "oil the pump", "pump pump seal", "lamp", "D40", "max_size", "the lamp", "board")


def open_view(index: OpenedIndex, filters: dict[str, str]) -> Index:
    return view_by_own_statistics(index, filters)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> OpenedIndex:
    folder = tmp_path_factory.mktemp("whole") / "v"
    return open_index(write_notes(folder, NOTES, options=OPTIONS), vectors=True)


@pytest.fixture(scope="module")
def view(index: OpenedIndex) -> Index:
    return open_view(index, CORE)


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> OpenedIndex:
    """A view of an index that has only the CORE documents, for comparison with `view`."""
    documents = (make_document(number, note) for number, note in enumerate(NOTES))
    kept = [each for each in documents if each[0].metadata == CORE]
    folder = tmp_path_factory.mktemp("part") / "v"
    return open_view(open_index(write_documents(folder, kept, options=OPTIONS), vectors=True), CORE)


VISIBLE = np.array([0, 2, 3, 6])
"""Chunks of the index, which are 0 to 3 in the view."""


def terms_of(index: OpenedIndex, query: str) -> list[str]:
    return query_terms(index.tokenizer.tokenize(query))


@pytest.mark.parametrize("query", QUERIES)
def test_keyword_scores_equal_those_of_an_index_without_hidden_documents(
    index: OpenedIndex, view: Index, part: Index, query: str
) -> None:
    terms = terms_of(index, query)
    scores = view.keyword_lane.scores(terms, np.arange(4))
    assert scores.tolist() == part.keyword_lane.scores(terms, np.arange(4)).tolist()
    found = view.keyword_lane.search(terms, 9)
    alone = part.keyword_lane.search(terms, 9)
    assert found.chunks.tolist() == alone.chunks.tolist()
    assert found.scores.tolist() == alone.scores.tolist()


@pytest.mark.parametrize("query", QUERIES)
def test_a_view_of_everything_has_the_scores_of_the_index(index: OpenedIndex, query: str) -> None:
    terms = terms_of(index, query)
    everything = open_view(index, {})
    scores = everything.keyword_lane.scores(terms, np.arange(7))
    # The index stores impacts as float32.
    assert scores == pytest.approx(index.keyword_lane.scores(terms, np.arange(7)), rel=1e-6)
    assert scores.any()


def test_scores_depend_on_hidden_documents_otherwise(index: OpenedIndex, view: Index) -> None:
    own, of_all = (each.keyword_lane.scores(["pump"], np.arange(1))[0] for each in (view, index))
    assert own != of_all and own > 0 < of_all


def test_hidden_chunks_are_not_found(view: Index) -> None:
    assert not len(view.keyword_lane.search(["board"], 9))
    vector = view.encoder.encode("the board met")
    assert vector is not None
    assert sorted(view.dense_lane.search(vector, 9).chunks.tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize("query", ["oil the pump", "the board met"])
def test_cosines_equal_those_of_an_index_without_hidden_documents(
    view: Index, part: Index, query: str
) -> None:
    vector, alone = view.encoder.encode(query), part.encoder.encode(query)
    assert vector is not None and alone is not None
    assert vector.tolist() == alone.tolist()
    found, expected = view.dense_lane.search(vector, 9), part.dense_lane.search(vector, 9)
    assert found.chunks.tolist() == expected.chunks.tolist()
    assert found.scores.tolist() == expected.scores.tolist()


def test_sketches_are_not_used_in_a_view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_lane, "EXACT_SCAN_LIMIT", 0)
    notes = [
        Note(f"Lamp {n}", (f"lamp {n * 37 % 101} of {n * 11 % 13} oils",), metadata=CORE)
        for n in range(150)
    ]
    index = open_index(write_notes(tmp_path / "v", notes, options=OPTIONS), vectors=True)
    assert isinstance(index.dense_lane, dense_lane.DenseLane)
    index.dense_lane = replace(index.dense_lane, candidates=1)
    view = open_view(index, CORE)
    for query in ("lamp", "oils of 7", "what is 12 of 99?"):
        vector = view.encoder.encode(query)
        assert vector is not None
        scores = view.dense_lane.scores(vector, np.arange(150))
        assert view.dense_lane.search(vector, 5).scores.tolist() == sorted(scores)[:-6:-1]
        # The distance is measured over all documents, so a view of some has none.
        assert index.dense_lane.distance(vector) is not None
        assert view.dense_lane.distance(vector) is None


def test_a_view_has_no_values_measured_over_all_documents(index: OpenedIndex, view: Index) -> None:
    vector = view.encoder.encode("pump")
    assert vector is not None
    assert view.dense_lane.distance(vector) is None
    assert view.manifest.dense is not None and view.manifest.dense["background"] == 0.5
    assert index.manifest.dense is not None and index.manifest.dense["background"] != 0.5
    assert view.manifest.dense == {
        **{name: index.manifest.dense[name] for name in ("model", "query")},
        "background": 0.5,
    }
    assert (view.version, len(index.version)) == ("", 16)


def test_a_view_of_nothing_finds_nothing(index: OpenedIndex) -> None:
    nothing = view_by_own_statistics(index, None)
    assert not len(nothing.keyword_lane.search(["pump"], 9))
    assert nothing.chunk_count == 0


def test_own_statistics_of_an_index_without_vectors(tmp_path: Path) -> None:
    index = open_index(write_notes(tmp_path / "v", NOTES, vectors=False, options=OPTIONS))
    view = open_view(index, CORE)
    assert view.keyword_lane.search(["pump"], 9).chunks.tolist() == [0]
    assert view.manifest.dense is None


def test_own_statistics_of_an_index_opened_without_its_vectors(index: OpenedIndex) -> None:
    view = open_view(open_index(index.layout.root), CORE)
    assert view.keyword_lane.search(["pump"], 9).chunks.tolist() == [0]
    assert not hasattr(view, "dense_lane")


def rarity(frequency: int) -> float:
    """Return the rarity of a term in this many of the four visible chunks."""
    return math.log(1 + (4 - frequency + 0.5) / (frequency + 0.5))


def test_terms_are_weighted_by_length_and_visible_frequency(
    index: OpenedIndex, view: Index
) -> None:
    # The term counts once in the text and three times in the heading, which repeats the title.
    lengths = index.part(TermCounts.open).lengths[VISIBLE]
    count, length, average = 4, int(lengths[0]), int(lengths.sum()) / 4
    expected = rarity(1) * count / (count + 1.5 * (0.25 + 0.75 * length / average))
    assert view.keyword_lane.scores(["pump"], np.arange(1))[0] == pytest.approx(expected, rel=1e-12)


def test_a_heading_weighs_as_much_as_its_terms(view: Index) -> None:
    # The term occurs in two visible chunks, and is the title of one document.
    assert view.keyword_lane.scores(["=seal"], np.arange(4)).tolist() == [0, 0, 0, 2 * rarity(2)]


def test_names_have_their_own_weight(tmp_path: Path) -> None:
    notes = [Note("lamp", ("of oil",)), Note("Lamp", ("of oil",)), Note("Seal", ("of oil",))]
    index = open_index(write_notes(tmp_path / "v", notes, options=OPTIONS), vectors=True)
    lane = open_view(index, {}).keyword_lane
    assert (lane.frequency("==lamp"), lane.frequency("=lamp")) == (1, 2)
    found = lane.scores(["==lamp"], np.arange(3))
    assert found == pytest.approx(index.keyword_lane.scores(["==lamp"], np.arange(3)), rel=1e-6)
    assert found.tolist() == [3 * math.log(1 + (3 - 1 + 0.5) / (1 + 0.5)), 0, 0]


def test_the_beginning_of_a_heading_has_three_quarters_of_its_weight(tmp_path: Path) -> None:
    notes = [Note("Appendix B to Part 1024 -- Model forms", ("Forms.",)), *NOTES]
    index = open_index(write_notes(tmp_path / "v", notes, options=OPTIONS), vectors=True)
    terms = [term for term in terms_of(index, "appendix b to part 1024") if term.startswith("=")]
    scores = open_view(index, {}).keyword_lane.scores(terms, np.arange(1))
    count = len(terms[0].split())
    alone = math.log(1 + (8 - 1 + 0.5) / (1 + 0.5))
    assert scores.tolist() == pytest.approx([0.75 * count * alone], rel=1e-12)


def test_a_heading_of_terms_in_no_text_has_its_own_rarity(tmp_path: Path) -> None:
    fields = {"title": 0, "headings": 0, "tags": 0}
    notes = [Note("Lamp oil", ("of rubber",)), Note("Lamp oil", ("more",)), Note("Seal", ("oil",))]
    folder = write_notes(tmp_path / "v", notes, options=replace(OPTIONS, fields=fields))
    index = open_index(folder, vectors=True)
    for heading in ("=lamp oil", "=seal"):
        scores = open_view(index, {}).keyword_lane.scores([heading], np.arange(3))
        assert scores == pytest.approx(index.keyword_lane.scores([heading], np.arange(3)), rel=1e-6)
        assert scores.any()


def test_the_mean_length_of_a_view_of_one_chunk_is_its_length(tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "v", NOTES[:1], options=OPTIONS)
    index = open_index(folder, vectors=True)
    scores = open_view(index, CORE).keyword_lane.scores(["pump"], np.arange(1))
    assert scores == pytest.approx(index.keyword_lane.scores(["pump"], np.arange(1)), rel=1e-6)


def test_an_index_without_counts_is_refused(tmp_path: Path) -> None:
    index = open_index(write_notes(tmp_path / "v", NOTES, options=IndexOptions()), vectors=True)
    with pytest.raises(IndexUnusableError, match=r"postings\.counts\.npy") as info:
        open_view(index, CORE)
    assert info.value.hint == 'build the index with server.access_statistics = "visible"'


def test_counts_are_stored_only_if_configured(tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "v", NOTES, options=IndexOptions())
    assert not (folder / "statistics").exists()
