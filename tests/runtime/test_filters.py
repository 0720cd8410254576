"""Which chunks filters let through, exactly at their bounds."""

from typing import Any

import numpy as np
import pytest
from small_indexes import Note, write_notes

from foundry.indexing.versions import open_index
from foundry.runtime.index.reader import Index

NOTES = [
    Note("before", ("first", "second"), modified="2024-01-04T23:59:59Z", tags=("odd",)),
    Note("at", ("third",), modified="2024-01-05T00:00:00Z", tags=("odd", "third")),
    Note("after", ("fourth",), modified="2024-01-05T00:00:01Z"),
    Note("undated", ("fifth",)),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return open_index(write_notes(tmp_path_factory.mktemp("filters") / "v", NOTES, vectors=False))


def selected(index: Index, values: dict[str, Any]) -> list[str]:
    """The texts of the chunks that pass."""
    allowed = index.filters.select(values)
    assert allowed is not None
    return [index.chunk(int(number)).text for number in np.flatnonzero(allowed)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"modified_before": "2024-01-05"}, ["first", "second"]),
        ({"modified_before": "2024-01-05T00:00:01Z"}, ["first", "second", "third"]),
        ({"modified_after": "2024-01-05"}, ["third", "fourth"]),
        ({"modified_after": "2024-01-05T00:00:01Z"}, ["fourth"]),
        ({"modified_after": "2024-01-05T00:00:02Z"}, []),
        ({"modified_after": "2024-01-05", "modified_before": "2024-01-05"}, []),
        (
            {"modified_after": "2024-01-05", "modified_before": "2024-01-05T01:00:01+01:00"},
            ["third"],
        ),
        ({"modified_after": "1970-01-01"}, ["first", "second", "third", "fourth"]),
        ({"modified_after": "1970-01-01", "tags": ["odd", "third"]}, ["third"]),
    ],
)
def test_times_are_bounds_of_which_the_later_is_left_out(
    values: dict[str, Any], expected: list[str], index: Index
) -> None:
    assert selected(index, values) == expected


def test_no_filter_selects_nothing_apart(index: Index) -> None:
    assert index.filters.select(None) is None
    assert index.filters.select({"tags": []}) is None
    assert index.filters.newest_date() == "2024-01-05"


def test_values_are_named_up_to_a_number(index: Index) -> None:
    assert index.filters.known_values("tags", 2) == ["odd", "third"]
    assert index.filters.known_values("tags", 1) == []
    assert index.filters.known_values("source", 2) == ["s0", "s1"]
    assert index.filters.known_values("media_type", 1) == ["text/markdown"]
    assert index.filters.known_values("media_type", 0) == []
    assert len(index.filters.known_values("path", 4)) == 4
    assert index.filters.known_values("path", 3) == []
