"""Filters of a request, in the body and the query string, and their schemas for an index."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from workshop.errors import InvalidRequestError
from workshop.web.filtered import FilterValues
from workshop.web.requests import SearchArguments, SearchParameters


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources of an index that has a field `team.name`."""
    sources = ["docs", "wiki"]

    def known_values(name: str, most: int) -> list[str]:
        return sources if (name, most) == ("source", 256) else []

    columns = SimpleNamespace(columns=("team.name",), known_values=known_values)
    index = SimpleNamespace(part=lambda _: columns)
    monkeypatch.setattr("workshop.web.filtered.schema_index", lambda: index)
    return sources


def filters_schema() -> Any:
    return TypeAdapter(FilterValues).json_schema()


def schema_of(model: Any, name: str) -> Any:
    return model.model_json_schema()["properties"][name]


def test_schemas_name_the_sources_unless_there_are_too_many(known: list[str]) -> None:
    def named() -> list[Any]:
        one, several = described("source")
        return [one, several["items"], schema_of(SearchParameters, "source")["items"]]

    def described(name: str) -> Any:
        return filters_schema()["properties"][name]["anyOf"]

    assert [one["enum"] for one in named()] == [["docs", "wiki"]] * 3
    assert all("enum" not in one for one in described("path"))
    assert described("tags")[1]["maxItems"] == 256
    known.clear()
    assert all("enum" not in one for one in named())


def test_schemas_name_the_fields() -> None:
    filters = filters_schema()
    times = {"modified_after", "modified_before"}
    assert filters["properties"].keys() - times == {
        *("source", "tags", "path", "media_type", "team.name")
    }
    assert not filters["additionalProperties"]
    pattern = schema_of(SearchParameters, "filter")["items"]["pattern"]
    names = {
        name: bool(re.search(pattern, f"{name}=a")) for name in ("path", "team.name", "colour")
    }
    assert names == {"path": True, "team.name": True, "colour": False}


def test_a_query_string_filters_as_a_body_does() -> None:
    written = {
        "source": ["docs"],
        "tag": ["a", "b"],
        "modified_after": "2024-01-05",
        "filter": ["path=guide/", "team.name=red", "team.name=blue"],
    }
    asked = SearchParameters.model_validate({"q": "seal", **written}).search_arguments()
    assert asked.pop("snippets") is True
    assert asked.pop("facets") is False
    assert asked.pop("sort") == "score"
    assert asked.pop("mode") == "hybrid"
    assert (asked.pop("offset"), asked.pop("group"), asked.pop("prefix")) == (0, None, False)
    assert asked == {
        "query": "seal",
        "top_k": 10,
        "filters": {
            "source": ["docs"],
            "tags": ["a", "b"],
            "modified_after": ["2024-01-05"],
            "path": ["guide/"],
            "team.name": ["red", "blue"],
        },
    }
    assert SearchArguments.model_validate(asked).filters == asked["filters"]
    assert SearchParameters(q="seal").search_arguments()["filters"] == {}
    with pytest.raises(InvalidRequestError, match="'path' must be written field=value"):
        SearchParameters.model_validate({"q": "seal", "filter": ["path"]}).search_arguments()


def test_values_of_a_parameter_and_of_filter_are_combined() -> None:
    written = {"source": ["docs"], "tag": ["a"], "filter": ["source=wiki", "tags=b"]}
    asked = SearchParameters.model_validate({"q": "seal", **written}).search_arguments()
    assert asked["filters"] == {"source": ["docs", "wiki"], "tags": ["a", "b"]}


@pytest.mark.parametrize("name", ["source", "tag", "filter"])
def test_a_query_string_has_at_most_256_values(name: str) -> None:
    SearchParameters.model_validate({"q": "seal", name: ["path=a"] * 256})
    with pytest.raises(ValidationError, match="256"):
        SearchParameters.model_validate({"q": "seal", name: ["path=a"] * 257})
