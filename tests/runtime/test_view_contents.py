"""A view's lists, sources, tags, values and dates cover only its documents."""

from pathlib import Path

import numpy as np
import pytest
from small_indexes import Note, write_notes

from foundry.config.search import IndexOptions
from foundry.indexing.versions import open_index
from foundry.runtime.errors import InvalidRequestError
from foundry.runtime.index.documents import Documents, SourceSummary
from foundry.runtime.index.reader import Index, OpenedIndex
from foundry.runtime.retrieval.filters import UNKNOWN_TIME, FilterColumns
from foundry.runtime.retrieval.view import view_of

OPTIONS = IndexOptions(filterable=("team", "floor"))


def note(team: str, floor: str, *tags: str, modified: str | None = None, passages: int = 1) -> Note:
    return Note(
        f"Of {team} on {floor}",
        tuple(f"passage {number} of {team}" for number in range(passages)),
        modified=modified,
        tags=tags,
        metadata={"team": team, "floor": floor},
        media_type=f"text/{team}",
    )


# Even numbers are of the source s0, odd ones of s1.
NOTES = [
    note("core", "f3", "shop", "old", modified="2024-01-05", passages=2),
    note("board", "f1", "a first", "secret", modified="2026-01-01", passages=3),
    note("core", "f2", "shop", passages=1),
    note("board", "f2", "shop", "old"),
    note("lab", "f9", "secret", "old", modified="2023-01-05", passages=2),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> OpenedIndex:
    folder = tmp_path_factory.mktemp("contents") / "v"
    return open_index(write_notes(folder, NOTES, vectors=False, options=OPTIONS))


@pytest.fixture(scope="module")
def core(index: OpenedIndex) -> Index:
    """The documents d0 and d2, with the chunks 0, 1 and 5, all of the source s0."""
    return view_of(index, {"team": "core"})


@pytest.fixture(scope="module")
def rest(index: OpenedIndex) -> Index:
    """The documents d1, d3 and d4."""
    return view_of(index, {"team": ["board", "lab"]})


def ids(index: OpenedIndex, offset: int = 0, limit: int = 100) -> list[str]:
    return [record.id for record in index.part(Documents.open).page(offset, limit)]


def test_counts(core: Index, rest: Index) -> None:
    assert (core.document_count, core.chunk_count) == (2, 3)
    assert (rest.document_count, rest.chunk_count) == (3, 6)


def test_documents_are_listed_in_their_order(core: Index, rest: Index) -> None:
    assert ids(core) == ["d0", "d2"]
    assert ids(rest) == ["d1", "d3", "d4"]


def test_pages_of_the_list_follow_each_other(rest: Index) -> None:
    assert [ids(rest, 0, 1), ids(rest, 1, 1), ids(rest, 1, 5), ids(rest, 3, 5)] == [
        *(["d1"], ["d3"], ["d3", "d4"], []),
    ]


def test_documents_are_found_by_id(core: Index) -> None:
    found = core.part(Documents.open).find("d2")
    assert found is not None and found.title == "Of core on f2"
    assert core.part(Documents.open).find("d1") is None


def test_a_hidden_document_cannot_be_read(core: Index) -> None:
    documents = core.part(Documents.open)
    assert [one.id for one in documents.each(range(core.document_count))] == ["d0", "d2"]
    with pytest.raises(ValueError, match="not enough values"):
        next(documents.each([2]))


def test_chunks_are_found_by_id(index: OpenedIndex, core: Index) -> None:
    assert core.find_chunk(index.chunk(5).id) == index.chunk(5)
    assert core.find_chunk(index.chunk(2).id) is None


def test_chunks_of_a_document_are_read(core: Index) -> None:
    document = next(core.part(Documents.open).each([0]))
    texts = [chunk.text for chunk in core.part(Documents.open).chunks_of(document)]
    assert texts == ["passage 0 of core", "passage 1 of core"]


def test_sources_count_visible_documents_and_chunks(core: Index, rest: Index) -> None:
    assert core.part(Documents.open).sources() == [SourceSummary("s0", 2, 3)]
    assert rest.part(Documents.open).sources() == [
        SourceSummary("s0", 1, 2),
        SourceSummary("s1", 2, 4),
    ]


def test_a_source_without_visible_documents_is_unknown(core: Index, rest: Index) -> None:
    assert core.part(FilterColumns.open).known_values("source", 9) == ["s0"]
    assert rest.part(FilterColumns.open).known_values("source", 9) == ["s0", "s1"]
    assert (core.manifest.sources, rest.manifest.sources) == (["s0"], ["s0", "s1"])
    with pytest.raises(InvalidRequestError, match=r"there is no source 's1'; known: s0$"):
        core.part(FilterColumns.open).select({"source": "s1"})


def test_tags_are_those_of_visible_documents(core: Index, rest: Index) -> None:
    assert core.part(FilterColumns.open).known_values("tags", 9) == ["old", "shop"]
    assert (core.manifest.tags, rest.manifest.tags) == (
        ["old", "shop"],
        ["a first", "old", "secret", "shop"],
    )


def test_values_are_those_of_visible_documents(core: Index, rest: Index) -> None:
    values = core.part(FilterColumns.open).known_values
    assert (values("floor", 9), values("team", 9)) == (["f2", "f3"], ["core"])
    assert values("media_type", 9) == ["text/core"]
    assert rest.part(FilterColumns.open).known_values("floor", 9) == ["f1", "f2", "f9"]


def test_hidden_values_do_not_count_towards_the_limit_of_listed_ones(
    core: Index, rest: Index
) -> None:
    assert core.part(FilterColumns.open).known_values("floor", 2) == ["f2", "f3"]
    assert core.part(FilterColumns.open).known_values("floor", 1) == []
    assert rest.part(FilterColumns.open).known_values("floor", 3) == ["f1", "f2", "f9"]
    assert rest.part(FilterColumns.open).known_values("floor", 2) == []


def test_the_newest_date_is_of_a_visible_document(core: Index, rest: Index) -> None:
    assert core.part(FilterColumns.open).newest_date() == "2024-01-05"
    assert rest.part(FilterColumns.open).newest_date() == "2026-01-01"


def test_dates_are_those_of_visible_chunks(core: Index) -> None:
    modified = core.part(FilterColumns.open).modified
    assert (modified > UNKNOWN_TIME).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("filters", "chunks"),
    [
        ({"floor": "f2"}, [2]),
        ({"floor": ["f1", "f9"]}, []),
        ({"tags": "shop"}, [0, 1, 2]),
        ({"tags": "secret"}, []),
        ({"tags": ["shop", "old"]}, [0, 1]),
        ({"source": "s0"}, [0, 1, 2]),
        ({"path": "notes/"}, [0, 1, 2]),
        ({"path": "notes/1"}, []),
        ({"modified_after": "2023-01-01"}, [0, 1]),
        ({"modified_before": "2027-01-01"}, [0, 1]),
    ],
    ids=str,
)
def test_filters_let_visible_chunks_through(
    core: Index, filters: dict[str, str], chunks: list[int]
) -> None:
    allowed = core.part(FilterColumns.open).select(filters)
    assert allowed is not None
    assert np.flatnonzero(allowed).tolist() == chunks


def test_without_filters_a_whole_view_is_searched(core: Index) -> None:
    assert core.part(FilterColumns.open).select(None) is None
    assert core.part(FilterColumns.open).select({}) is None


def test_no_known_items_are_in_a_view(index: OpenedIndex, core: Index) -> None:
    assert not core.manifest.known_items


def test_filters_that_the_index_lacks_are_refused_for_a_view(index: OpenedIndex) -> None:
    with pytest.raises(InvalidRequestError, match="unknown filter 'colour'"):
        view_of(index, {"colour": "red"})


def test_two_views_of_an_index_are_independent(index: OpenedIndex, tmp_path: Path) -> None:
    one, other = view_of(index, {"team": "lab"}), view_of(index, {"floor": "f2"})
    assert (ids(one), ids(other), ids(index)) == (
        ["d4"],
        ["d2", "d3"],
        ["d0", "d1", "d2", "d3", "d4"],
    )
