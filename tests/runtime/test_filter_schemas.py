"""Filters in requests, and the schemas that name their values."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from foundry.runtime.errors import InvalidRequestError
from foundry.runtime.web import filtered
from foundry.runtime.web.requests import SearchArguments, SearchParameters


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The sources of an index, which also has the columns `team` and `my (column)`."""
    sources = ["docs", "wiki"]
    asked: list[tuple[str, int]] = []

    def known_values(name: str, most: int) -> list[str]:
        asked.append((name, most))
        return sources if name == "source" else ["no other is named"]

    columns = SimpleNamespace(columns=("team", "my (column)"), known_values=known_values)
    index = SimpleNamespace(part=lambda _kind: columns)
    monkeypatch.setattr(filtered, "schema_index", lambda: index)
    for model in (SearchArguments, SearchParameters):
        model.model_rebuild(force=True)
    yield sources
    assert {most for _, most in asked} <= {256}


def filters() -> dict[str, Any]:
    schema = SearchArguments.model_json_schema()["properties"]["filters"]
    found: dict[str, Any] = schema["anyOf"][0]
    return found


def test_every_filter_is_described() -> None:
    assert list(filters()["properties"]) == [
        *("modified_after", "modified_before", "source", "tags", "path", "media_type"),
        *("team", "my (column)"),
    ]
    assert filters()["properties"]["team"]["description"] == "One of these."
    assert filters()["properties"]["tags"]["description"] == "All of these tags."
    assert filters()["properties"]["source"]["description"] == "One of these sources."


def test_no_other_filter_is_known() -> None:
    assert filters()["additionalProperties"] is False


def test_a_filter_has_one_value_or_at_most_256() -> None:
    one = {"type": "string"}
    several = {"type": "array", "items": one, "maxItems": 256}
    assert filters()["properties"]["path"]["anyOf"] == [one, several]


def test_sources_are_named() -> None:
    one, several = filters()["properties"]["source"]["anyOf"]
    assert one["enum"] == several["items"]["enum"] == ["docs", "wiki"]
    listed = SearchParameters.model_json_schema()["properties"]["source"]
    assert listed["items"]["enum"] == ["docs", "wiki"]


def test_values_of_other_filters_are_not_named() -> None:
    named = [
        name for name in filters()["properties"] if "enum" in str(filters()["properties"][name])
    ]
    assert named == ["source"]


def test_where_no_source_may_be_named_none_is(known: list[str]) -> None:
    known.clear()
    assert "enum" not in str(filters())
    assert "enum" not in str(SearchParameters.model_json_schema()["properties"]["source"])


def test_times_are_dates_or_date_times() -> None:
    for time in (
        filters()["properties"]["modified_after"],
        SearchParameters.model_json_schema()["properties"]["modified_before"],
    ):
        assert [one["format"] for one in time["anyOf"]] == ["date", "date-time"]
        assert time["description"] == "ISO 8601 date or date-time; in UTC unless it has an offset."


def test_pairs_begin_with_a_filter() -> None:
    items = SearchParameters.model_json_schema()["properties"]["filter"]["items"]
    # Characters of names are escaped in the pattern.
    assert items["pattern"] == "^(path|media_type|team|my..column.)="


def test_a_query_string_has_the_arguments_of_a_body() -> None:
    parameters = SearchParameters(
        q="pump",
        source=["docs"],
        tag=["a", "b"],
        modified_after="2024-01-01",
        filter=["team=red", "team=blue", "path=x"],
    )
    assert parameters.search_arguments()["filters"] == {
        "source": ["docs"],
        "modified_after": "2024-01-01",
        "tags": ["a", "b"],
        "team": ["red", "blue"],
        "path": ["x"],
    }


def test_a_query_string_without_filters_has_none() -> None:
    assert SearchParameters(q="pump").search_arguments()["filters"] == {}


def test_a_pair_without_a_value_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="'team' must be written field=value"):
        SearchParameters(q="pump", filter=["team"]).search_arguments()


@pytest.mark.parametrize("name", ["source", "tag", "filter"])
def test_a_list_has_at_most_256_values(name: str) -> None:
    most = {"q": "pump", name: ["team=x"] * 256}
    assert SearchParameters.model_validate(most)
    with pytest.raises(ValidationError, match="at most 256 items"):
        SearchParameters.model_validate({**most, name: ["team=x"] * 257})


def test_a_body_may_do_without_filters() -> None:
    assert SearchArguments(query="pump").filters is None
    assert SearchArguments(query="pump", filters={"team": "red"}).filters == {"team": "red"}
