"""Facets: the values of each filter among the best passages of a search."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import sample_candidates
from small_indexes import Note, make_document, write_documents

from foundry.config.search import IndexOptions
from foundry.documents import Place
from foundry.indexing.versions import open_index
from foundry.runtime.index.documents import Documents
from foundry.runtime.index.reader import Index, OpenedIndex
from foundry.runtime.retrieval.candidates import Candidates
from foundry.runtime.retrieval.filters import FilterColumns
from foundry.runtime.retrieval.journal import Journal
from foundry.runtime.retrieval.results import Facets
from foundry.runtime.retrieval.stages.facets import ENTRIES_OF_UNIT, note_facets
from foundry.runtime.retrieval.view import view_of

OPTIONS = IndexOptions(filterable=("team",))
PATHS = ("guide/air/fans.md", "guide/air/doors.md", "guide/light.md", "guide/sub/x/y.md", "top.md")
"""Paths of the documents, which are alternately from the sources s0 and s1."""


def note(team: str, *tags: str, passages: int = 1, media_type: str = "text/markdown") -> Note:
    words = tuple(f"passage {number} of {team}" for number in range(passages))
    return Note("A", words, tags=tags, metadata={"team": team}, media_type=media_type)


NOTES = (
    note("core", "air", "old", passages=3),
    note("board", "air", passages=2),
    note("core", "light", passages=1),
    note("lab", passages=2, media_type="text/html"),
    note("lab", "air", "secret", passages=1),
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> OpenedIndex:
    documents = []
    for number, (path, each) in enumerate(zip(PATHS, NOTES, strict=True)):
        document, *rest = make_document(number, each)
        copies = {
            "guide/light.md": (Place("copy", "s1", "old/light.md", None, "Light"),),
            "top.md": (Place("other", "s0", "top2.md", None, "Top"),),
        }.get(path, ())
        documents.append((replace(document, path=path, also_at=copies), *rest))
    folder = tmp_path_factory.mktemp("facets") / "v"
    return open_index(write_documents(folder, documents, vectors=False, options=OPTIONS))


def candidates(chunks: Sequence[int]) -> Candidates:
    """Candidates with these chunks, best first."""
    best = {chunk: 1 - place / 100 for place, chunk in enumerate(chunks)}
    ordered = np.array(sorted(best), dtype=np.int64)
    return sample_candidates([best[chunk] for chunk in sorted(best)], chunks=ordered)


def facets_of(
    index: Index, found: Candidates, journal: Journal, *, passages: int, choices: int
) -> Facets:
    note_facets(True, found, index, journal, passages=passages, choices=choices)
    assert journal.facets is not None
    return journal.facets


def counted(
    index: Index, chunks: Sequence[int], passages: int = 100, choices: int = 8
) -> dict[str, dict[str, int]]:
    found = facets_of(index, candidates(chunks), Journal(), passages=passages, choices=choices)
    assert found.counted == min(len(chunks), passages)
    return {each.filter: {one.value: one.count for one in each.values} for each in found.filters}


def test_passages_are_counted_by_each_filter(index: OpenedIndex) -> None:
    # Chunks 0 to 2 are of the first document, 3 and 4 of the next, then 5, 6 and 7, and 8.
    assert counted(index, [0, 2, 3, 5, 6]) == {
        "source": {"s0": 3, "s1": 3},
        "path": {"guide/": 5, "old/": 1},
        "tags": {"air": 3, "light": 1, "old": 2},
        "media_type": {"text/html": 1, "text/markdown": 4},
        "team": {"core": 3, "board": 1, "lab": 1},
    }


def test_a_copy_in_the_same_source_counts_once(index: OpenedIndex) -> None:
    assert counted(index, [8])["source"] == {"s0": 1}


@pytest.mark.parametrize(
    ("chunks", "folders"),
    [
        ([0, 3, 6, 7], {"guide/air/": 2, "guide/sub/": 2}),
        # If all passages are in one folder, no folder is offered.
        ([0, 3], None),
        ([6], None),
        ([0, 8], {"guide/": 1}),
        ([8], None),
    ],
)
def test_folders_are_those_where_paths_branch(
    index: OpenedIndex, chunks: list[int], folders: dict[str, int] | None
) -> None:
    assert counted(index, chunks).get("path") == folders


def test_only_the_best_passages_are_counted_and_only_frequent_values_shown(
    index: OpenedIndex,
) -> None:
    assert counted(index, [8, 7, 0], passages=2)["team"] == {"lab": 2}
    found = facets_of(index, candidates(range(9)), Journal(), passages=100, choices=2)
    teams = next(each for each in found.filters if each.filter == "team")
    assert [(one.value, one.count) for one in teams.values] == [("core", 4), ("lab", 3)]
    assert teams.others == 1
    assert found.to_json()["filters"][-1]["others"] == 1
    # Equal counts are sorted by value.
    tags = next(each for each in found.filters if each.filter == "tags")
    assert [(one.value, one.count) for one in tags.values] == [("air", 6), ("old", 3)]
    few = facets_of(index, candidates([0, 3]), Journal(), passages=100, choices=8)
    assert [one.value for one in few.filters[0].values] == ["s0", "s1"]
    assert "others" not in few.to_json()["filters"][0]


def test_responses_without_results_have_no_facets(index: OpenedIndex) -> None:
    found = facets_of(index, candidates([]), Journal(), passages=100, choices=8)
    assert found == Facets(0, ())


def test_facets_of_a_view_cover_only_its_documents(index: OpenedIndex) -> None:
    view = view_of(index, {"team": "core"})
    assert counted(view, [0, 1, 3]) == {
        "source": {"s0": 3, "s1": 1},
        "path": {"guide/": 3, "old/": 1},
        "tags": {"air": 2, "light": 1, "old": 2},
        "media_type": {"text/markdown": 3},
        "team": {"core": 3},
    }


def test_filters_that_cost_too_much_are_left_out(index: OpenedIndex) -> None:
    columns = index.part(FilterColumns.open)
    costs = [columns.entries_of(name) // ENTRIES_OF_UNIT for name in ("source", "path", "tags")]
    assert [columns.entries_of(name) for name in ("source", "path", "tags", "media_type")] == [
        *(2, 7, 11, 5)
    ]
    assert costs == [0, 0, 1]
    journal = Journal(units=0)
    found = facets_of(index, candidates([0, 3]), journal, passages=100, choices=8)
    assert [each.filter for each in found.filters] == ["source", "media_type", "team"]
    assert journal.stages["budget"]["stopped"] == ["facets"]


@settings(max_examples=30, deadline=None)
@given(chunks=st.lists(st.integers(0, 8), unique=True, max_size=9))
def test_counts_equal_those_of_the_records(index: OpenedIndex, chunks: list[int]) -> None:
    documents = index.part(Documents.open)
    starts = documents.first_chunks.tolist()
    records = [
        next(documents.each([sum(start <= chunk for start in starts) - 1])) for chunk in chunks
    ]
    expected = {
        "source": Counter(name for each in records for name in {p.source for p in each.places()}),
        "tags": Counter(tag for each in records for tag in each.tags),
        "media_type": Counter(each.media_type for each in records),
        "team": Counter(each.metadata["team"] for each in records),
    }
    found = counted(index, chunks)
    found.pop("path", None)
    assert found == {name: values for name, values in expected.items() if values}
