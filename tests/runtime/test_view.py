"""A view of an index reveals nothing about other documents, even to stages."""

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from small_indexes import Note, make_document, write_documents, write_notes

from foundry.config.search import IndexOptions
from foundry.documents import Span
from foundry.indexing.versions import open_index
from foundry.runtime.index.documents import Documents
from foundry.runtime.index.reader import Index, OpenedIndex
from foundry.runtime.retrieval.filters import FilterColumns
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.stages.correction import open_words as open_corrections
from foundry.runtime.retrieval.stages.expansion import open_words as open_expansion
from foundry.runtime.retrieval.stages.links import open_graph
from foundry.runtime.retrieval.stages.narrowing import apply_operators
from foundry.runtime.retrieval.stages.operators import read_operators
from foundry.runtime.retrieval.stages.parents import find_passages
from foundry.runtime.retrieval.stages.suggestions import open_completions
from foundry.runtime.retrieval.stages.synonyms import open_forms
from foundry.runtime.retrieval.view import view_of

OPTIONS = IndexOptions(
    filterable=("team",),
    expansion_words=50,
    correction_words=50,
    suggested_words=50,
    synonyms=(),
    acronyms=True,
)
NOTES = [
    Note("Pump", ("The pump is oiled.",), links=(1, 2, 3), metadata={"team": "core"}),
    Note("Deal", ("quuxcorp acquires the pump for 42 million",), metadata={"team": "board"}),
    Note("Plan", ("quuxcorp is the pump of 42 plans",), links=(3,), metadata={"team": "board"}),
    Note("Seal", ("The seal of a pump.",), metadata={"team": "core"}),
]
SEEN = np.array([0, 3])
"""The chunks that the view has; their numbers in it are 0 and 1."""

VISIBLE = np.array([0, 1])


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> OpenedIndex:
    folder = write_notes(tmp_path_factory.mktemp("view") / "v", NOTES, options=OPTIONS)
    return open_index(folder, vectors=True)


@pytest.fixture(scope="module")
def view(index: OpenedIndex) -> Index:
    return view_of(index, {"team": "core"})


def test_links_do_not_lead_to_hidden_documents(index: OpenedIndex, view: Index) -> None:
    def linked_from_pump(within: Index) -> list[str]:
        documents = within.part(Documents.open)
        [pump] = [each for each in documents.page() if each.title == "Pump"]
        return [one.title for one in documents.each(documents.linked_from(pump))]

    assert linked_from_pump(index) == ["Deal", "Plan", "Seal"]
    assert linked_from_pump(view) == ["Seal"]


def test_the_keyword_lane_finds_no_hidden_chunk(view: Index) -> None:
    assert sorted(view.keyword_lane.search(["pump", "quuxcorp"], 10).chunks.tolist()) == [0, 1]


def test_a_filter_lets_no_hidden_chunk_through(view: Index) -> None:
    everything = np.ones(2, dtype=np.bool_)
    assert sorted(view.keyword_lane.search(["pump"], 10, everything).chunks.tolist()) == [0, 1]
    assert not len(view.keyword_lane.search(["quuxcorp"], 10, everything))


def test_a_filter_of_a_view_still_filters(view: Index) -> None:
    last = np.array([False, True])
    assert view.keyword_lane.search(["pump"], 10, last).chunks.tolist() == [1]
    vector = view.encoder.encode("pump")
    assert vector is not None
    assert view.dense_lane.search(vector, 10, last).chunks.tolist() == [1]


def test_the_keyword_lane_scores_visible_chunks(index: OpenedIndex, view: Index) -> None:
    seen = view.keyword_lane.scores(["quuxcorp", "pump"], VISIBLE)
    assert seen.tolist() == index.keyword_lane.scores(["quuxcorp", "pump"], SEEN).tolist()
    assert seen.all()


def test_accumulated_scores_contain_no_hidden_chunks(view: Index) -> None:
    score_of = view.keyword_lane.search(["pump", "quuxcorp"], 1).score_of
    assert score_of is not None
    pump = view.keyword_lane.scores(["pump"], VISIBLE)
    assert score_of(VISIBLE).tolist() == pump.tolist() and pump.all()


def test_frequencies_count_visible_chunks(index: OpenedIndex, view: Index) -> None:
    assert (index.keyword_lane.frequency("quuxcorp"), index.keyword_lane.frequency("pump")) == (
        2,
        4,
    )
    assert (view.keyword_lane.frequency("quuxcorp"), view.keyword_lane.frequency("pump")) == (0, 2)


def test_the_dense_lane_finds_no_hidden_chunk(view: Index) -> None:
    vector = view.encoder.encode("quuxcorp acquires")
    assert vector is not None
    assert sorted(view.dense_lane.search(vector, 10).chunks.tolist()) == [0, 1]
    everything = np.ones(2, dtype=np.bool_)
    assert sorted(view.dense_lane.search(vector, 10, everything).chunks.tolist()) == [0, 1]


def test_the_dense_lane_scores_visible_chunks(index: OpenedIndex, view: Index) -> None:
    vector = view.encoder.encode("pump acquires")
    assert vector is not None
    seen = view.dense_lane.scores(vector, VISIBLE)
    assert seen.tolist() == index.dense_lane.scores(vector, SEEN).tolist()
    assert seen.all()


def test_every_chunk_that_can_be_read_is_visible(view: Index) -> None:
    assert [view.chunk(number).title for number in range(view.chunk_count)] == ["Pump", "Seal"]
    with pytest.raises(IndexError):
        view.chunk(2)


def test_no_array_of_a_view_covers_hidden_documents(index: OpenedIndex, tmp_path: Path) -> None:
    """Every array of a view has the size of its visible part."""
    alone = [NOTES[number] for number in SEEN]
    links = {0: (1,), 3: ()}
    kept = [replace(note, links=links[number]) for number, note in zip(SEEN, alone, strict=True)]
    small = view_of(
        open_index(write_notes(tmp_path / "v", kept, options=OPTIONS), vectors=True), {}
    )
    view = view_of(index, {"team": "core"})
    assert (view.chunk_count, view.document_count) == (2, 2)
    for kind in (FilterColumns.open, Documents.open):
        one, other = (each.part(kind) for each in (view, small))
        for name in (field.name for field in fields(one)):
            sizes = [getattr(getattr(each, name), "shape", None) for each in (one, other)]
            assert sizes[0] == sizes[1], name
    values = [each.part(FilterColumns.open).values for each in (view, small)]
    assert [(len(each.documents), each.document_count) for each in values] == [(6, 2), (6, 2)]
    assert sorted(vars(view)) == [
        *("_divide", "_parts", "chunk_count", "chunk_lines", "dense_lane", "document_count"),
        *("encoder", "keyword_lane", "manifest", "tokenizer", "version"),
    ]


def test_the_cost_of_a_filter_depends_on_visible_documents(index: OpenedIndex, view: Index) -> None:
    names = ("source", "path", "tags", "media_type", "team")
    costs = [
        [each.part(FilterColumns.open).entries_of(name) for name in names] for each in (index, view)
    ]
    assert costs == [[0, 4, 0, 4, 4], [0, 2, 0, 2, 2]]


@pytest.mark.parametrize(
    "part",
    [open_corrections, open_expansion, open_completions, open_forms],
    ids=["correction", "expansion", "suggestions", "synonyms"],
)
def test_parts_built_from_all_documents_are_not_in_a_view(
    index: OpenedIndex, view: Index, part: Callable[[Index], object]
) -> None:
    assert index.part(part) is not None
    with pytest.raises(PermissionError, match="would reveal documents outside the view"):
        view.part(part)


def test_the_files_of_an_index_are_not_in_a_view(view: Index) -> None:
    assert not hasattr(view, "layout")
    with pytest.raises(AttributeError):
        view.verify()


def test_hidden_documents_are_not_linked(index: OpenedIndex, view: Index) -> None:
    assert index.part(open_graph).neighbours(0, 4) == [1, 2, 3]
    assert view.part(open_graph).neighbours(0, 4) == [1]
    assert view.part(open_graph).neighbours(1, 4) == [0]
    assert index.part(open_graph).neighbours(3, 4) == [0, 2]


def test_hidden_documents_take_no_place_among_linked_ones(view: Index) -> None:
    assert view.part(open_graph).neighbours(0, 1) == [1]


def test_an_empty_view_has_no_content(index: OpenedIndex) -> None:
    nothing = view_of(index, None)
    assert (nothing.document_count, nothing.chunk_count) == (0, 0)
    assert not len(nothing.keyword_lane.search(["pump"], 10))
    assert nothing.keyword_lane.frequency("pump") == 0
    assert not len(nothing.part(open_graph).targets)
    assert nothing.part(Documents.open).sources() == []
    assert nothing.part(FilterColumns.open).newest_date() is None
    assert nothing.part(FilterColumns.open).known_values("team", 9) == []


def test_an_index_opened_without_its_vectors_has_a_view(index: OpenedIndex) -> None:
    view = view_of(open_index(index.layout.root), {"team": "core"})
    assert view.keyword_lane.search(["pump"], 10).chunks.tolist() == [0, 1]
    assert not hasattr(view, "dense_lane")


def test_a_view_by_filters_without_values_has_everything(index: OpenedIndex) -> None:
    everything = view_of(index, {})
    assert (everything.document_count, everything.chunk_count) == (4, 4)
    assert everything.keyword_lane.frequency("quuxcorp") == 2
    assert everything.part(open_graph).neighbours(0, 9) == [1, 2, 3]


@pytest.mark.parametrize(
    "words", ["acquires 42 million", "quuxcorp acquires", "42 plans", "no such words"]
)
def test_an_excluded_phrase_does_not_reveal_hidden_chunks(words: str, view: Index) -> None:
    journal = Journal()
    _, operators = read_operators(view, f'pump -"{words}"', journal)
    allowed = view.part(FilterColumns.open).select(None)
    apply_operators(allowed, operators, view, journal, phrase_chunks=1)
    assert journal.stages["operators"] == {"excluded": [words], "query": "pump"}


def test_unread_chunks_of_a_phrase_are_counted_among_visible_ones(index: OpenedIndex) -> None:
    for seen, unread in (({}, 3), ({"team": "core"}, 1)):
        view, journal = view_of(index, seen), Journal()
        _, operators = read_operators(view, '"pump" seal', journal)
        allowed = view.part(FilterColumns.open).select(None)
        apply_operators(allowed, operators, view, journal, phrase_chunks=1)
        told = {"phrases": ["pump"], "query": "pump seal", "unread": unread}
        assert journal.stages["operators"] == told


def test_a_passage_ends_with_its_document_even_if_the_next_one_is_hidden(
    tmp_path: Path,
) -> None:
    documents = []
    for number, note in enumerate(NOTES):
        document, (chunk,) = make_document(number, note)
        parent = Span(0, len(chunk.text))
        documents.append((document, [replace(chunk, parent=parent)]))
    index = open_index(write_documents(tmp_path / "v", documents, vectors=False, options=OPTIONS))
    view = view_of(index, {"team": "core"})
    for number, whole in enumerate(SEEN.tolist()):
        [passage] = find_passages(view, [view.chunk(number)])
        assert passage is not None
        assert passage.text == NOTES[whole].passages[0]
        assert [passage] == find_passages(index, [index.chunk(whole)])


def test_no_hidden_chunk_has_a_term(index: OpenedIndex, view: Index) -> None:
    assert index.keyword_lane.having("pump").tolist() == [0, 1, 2, 3]
    assert view.keyword_lane.having("pump").tolist() == [0, 1]
    assert view.keyword_lane.having("quuxcorp").tolist() == []
