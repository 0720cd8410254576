"""Which chunks pass filters, over a small table."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from workshop.errors import InvalidRequestError
from workshop.index.layout import IndexLayout
from workshop.retrieval.filters import (
    UNKNOWN_TIME,
    FilterColumns,
    note_empty_filters,
    parse_filters,
    parse_time,
    read_pairs,
)
from workshop.retrieval.journal import Journal
from workshop.retrieval.values import encode_value

LENGTHS = [2, 1, 1]
"""The number of chunks of each document; numbers below are chunks, 0 to 3."""

VALUES = {
    ("media_type", "text/html"): [2],
    ("media_type", "text/markdown"): [0, 1],
    ("path", "a.md"): [0],
    ("path", "a.md.txt"): [1],
    ("path", "b/c.md"): [2],
    # The third document has a copy in the first one's source.
    ("source", "docs"): [0, 1, 2],
    ("team", "blue"): [1],
    ("team", "red"): [0, 2],
}
"""The documents that have a value."""

TIMES = ["2024-01-04T23:59:59Z", "2024-01-05T00:00:00Z", "2024-01-05T00:00:01Z", None]
TAGS = {"new": [0, 2], "odd": [0, 1, 2]}


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> FilterColumns:
    layout = IndexLayout(tmp_path_factory.mktemp("filters"))

    def write(path: Path, kind: type, values: list[int]) -> None:
        np.save(path, np.array(values, dtype=kind))

    def write_lists(offsets: Path, items: Path, lists: list[list[int]]) -> None:
        write(offsets, np.uint64, [0, *np.cumsum([*map(len, lists)])])
        write(items, np.uint32, [item for one in lists for item in one])

    times = [parse_time(time) if time else UNKNOWN_TIME for time in TIMES]
    write(layout.filter_modified, np.int64, times)
    write(layout.filter_sources, np.uint16, [0, 0, 0, 1])
    write_lists(layout.filter_tag_offsets, layout.filter_tag_chunks, [*TAGS.values()])
    keys = [encode_value(*pair) for pair in sorted(VALUES)]
    layout.filter_values.write_bytes(b"".join(keys))
    write(layout.filter_value_offsets, np.uint64, [0, *np.cumsum([*map(len, keys)])])
    documents = [VALUES[pair] for pair in sorted(VALUES)]
    write_lists(layout.filter_document_offsets, layout.filter_documents, documents)
    named = {"sources": ["docs", "wiki"], "tags": [*TAGS], "filterable": ["team"]}
    manifest: Any = SimpleNamespace(chunks=4, documents=3, **named)
    write(layout.document_chunks, np.uint64, [0, *np.cumsum(LENGTHS)])
    index: Any = SimpleNamespace(layout=layout, manifest=manifest)
    return FilterColumns.open(index)


@pytest.mark.parametrize(
    ("filters", "chunks"),
    [
        ({"path": "a"}, [0, 1, 2]),
        ({"path": "a.md."}, [2]),
        ({"path": ["b/", "a.md.t"]}, [2, 3]),
        ({"path": ["a.md.t", "a.md", "z"]}, [0, 1, 2]),
        ({"path": ""}, [0, 1, 2, 3]),
        ({"path": "c.md"}, []),
        ({"media_type": "text/html"}, [3]),
        ({"media_type": "text"}, []),
        ({"team": "red"}, [0, 1, 3]),
        ({"team": ["blue", "red"]}, [0, 1, 2, 3]),
        ({"source": "wiki"}, [3]),
        ({"source": "docs"}, [0, 1, 2, 3]),
        ({"tags": "odd"}, [0, 1, 2]),
        ({"tags": ["odd", "new", "odd"]}, [0, 2]),
        ({"tags": ["odd", "no-such-tag"]}, []),
        ({"modified_before": "2024-01-05"}, [0]),
        ({"modified_before": "2024-01-05T00:00:01Z"}, [0, 1]),
        ({"modified_after": "2024-01-05"}, [1, 2]),
        ({"modified_after": "2024-01-05T01:00:01+01:00"}, [2]),
        ({"modified_after": "2024-01-05T00:00:02"}, []),
        ({"modified_after": "1970-01-01"}, [0, 1, 2]),
        ({"modified_after": "2024-01-05", "modified_before": "2024-01-05"}, []),
        ({"team": "red", "tags": ["odd"], "path": []}, [0, 1]),
        ({"tags": None, "path": ["b"]}, [3]),
    ],
)
def test_filters_select_chunks(
    columns: FilterColumns, filters: dict[str, Any], chunks: list[int]
) -> None:
    allowed = columns.select(filters)
    assert allowed is not None
    assert np.flatnonzero(allowed).tolist() == chunks


@pytest.mark.parametrize("filters", [None, {}, {"tags": []}, {"path": None, "team": ()}])
def test_empty_filters_select_everything(
    columns: FilterColumns, filters: dict[str, Any] | None
) -> None:
    assert columns.select(filters) is None


@pytest.mark.parametrize(
    ("filters", "field", "message"),
    [
        ({"colour": "red"}, "colour", "unknown filter 'colour'; known: source, tags, path, "),
        ({"source": ["docs", "web"]}, "source", "there is no source 'web'; known: docs, wiki"),
        ({"modified_after": "soon"}, "modified_after", "'modified_after' must be an ISO 8601"),
        ({"modified_before": ["2024-01-01", "2024"]}, "modified_before", "must be an ISO"),
        ({"tags": ["a", 3]}, "tags", "'tags' must be a string or a list of strings"),
        ({"tags": {"a": 1}}, "tags", "'tags' must be a string or a list of strings"),
        ({"tags": [None]}, "tags", "'tags' must be a string or a list of strings"),
        ({"path": ["a"] * 257}, "path", "at most 256 values, but has 257"),
        ({"path": [*range(257)]}, "path", "must be a string or a list of strings"),
    ],
)
def test_invalid_filters_are_refused(
    columns: FilterColumns, filters: dict[str, Any], field: str, message: str
) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        columns.select(filters)
    assert caught.value.field == f"filters.{field}"
    assert message in caught.value.message


def test_a_filter_may_have_256_values() -> None:
    values = [*map(str, range(256))]
    assert parse_filters({"path": values}) == {"path": tuple(values)}


def test_known_values_are_listed_up_to_a_number(columns: FilterColumns) -> None:
    assert columns.columns == ("team",)
    assert columns.known_values("tags", 2) == ["new", "odd"]
    assert columns.known_values("source", 2) == ["docs", "wiki"]
    assert columns.known_values("source", 1) == columns.known_values("path", 2) == []
    assert columns.known_values("path", 3) == ["a.md", "a.md.txt", "b/c.md"]
    assert columns.known_values("team", 9) == ["blue", "red"]
    assert columns.known_values("colour", 9) == []


def test_the_newest_date_is_that_of_any_chunk_which_states_one(columns: FilterColumns) -> None:
    assert columns.newest_date() == "2024-01-05"
    undated = replace(columns, modified=np.full_like(columns.modified, UNKNOWN_TIME))
    assert undated.newest_date() is None


@pytest.mark.parametrize("text", ["yesterday", "", "2024-13-01"])
def test_invalid_times_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"isoformat|month"):
        parse_time(text)


def test_times_before_1970_are_valid() -> None:
    assert parse_time("1969-12-31") == -86_400
    assert parse_time("1970-01-01T00:00:01+01:00") == -3599


def test_pairs_are_cut_at_their_first_equals_sign() -> None:
    assert read_pairs([" team = a=b ", "team=c", "path="]) == {"team": ["a=b", "c"], "path": [""]}
    with pytest.raises(InvalidRequestError, match="'team' must be written field=value"):
        read_pairs(["team"])


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        (None, None),
        ({"tags": "new"}, None),
        ({"tags": ["new", "lost"]}, "No passage has tags “new, lost”; known values of tags: "),
        ({"team": "green"}, "No passage has team “green”; known values of team: “blue”, “red”."),
        ({"team": "blue", "path": "b/"}, "No passage has team “blue”, path “b/”."),
        ({"team": "blue", "path": "x/"}, "No passage has path “x/”; known values of path: “a.md”"),
    ],
)
def test_a_notice_names_filters_that_match_nothing(
    columns: FilterColumns, filters: dict[str, object] | None, said: str | None
) -> None:
    journal, index = Journal(), SimpleNamespace(part=lambda _kind: columns)
    note_empty_filters(cast(Any, index), filters, columns.select(filters), journal)
    notices = [details["notice"] for details in journal.stages.values()]
    assert [notice.startswith(said or "") for notice in notices] == [True] * (said is not None)
