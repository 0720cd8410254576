"""The allowed contents of a request, and their schema."""

from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from workshop.web.requests import RequestModel, SearchBody, SearchParameters


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index without filter values."""
    columns = SimpleNamespace(columns=(), known_values=lambda *_: [])
    index = SimpleNamespace(part=lambda _: columns)
    monkeypatch.setattr("workshop.web.filtered.schema_index", lambda: index)


@pytest.mark.parametrize(("sent", "top_k"), [(1, 1), (100, 100), (3.0, 3), (100.0, 100)])
def test_top_k_accepts_whole_numbers(sent: float, top_k: int) -> None:
    arguments = SearchBody.model_validate({"query": " seal ", "top_k": sent})
    assert (arguments.query, arguments.top_k) == ("seal", top_k)
    assert type(arguments.top_k) is int


@pytest.mark.parametrize("sent", [0, 101, 3.5, 100.5, "3", True, None, [3], 1e300])
def test_other_values_of_top_k_are_refused(sent: Any) -> None:
    with pytest.raises(ValidationError, match="top_k"):
        SearchBody.model_validate({"query": "seal", "top_k": sent})


@pytest.mark.parametrize(
    ("query", "is_one"),
    [("x" * 2000, True), *((wrong, False) for wrong in ("x" * 2001, " \n", 3, None, True, ["a"]))],
)
def test_a_query_is_a_text_of_at_most_2000_characters(query: Any, is_one: bool) -> None:
    try:
        assert SearchBody.model_validate({"query": query}).top_k == 10
        assert SearchParameters.model_validate({"q": query}).top_k == 10
    except ValidationError:
        assert not is_one
    else:
        assert is_one


def test_query_string_and_body_have_the_same_arguments() -> None:
    arguments = SearchParameters.model_validate({"q": "seal", "top_k": "3"}).search_arguments()
    wanted: dict[str, Any] = {"query": "seal", "top_k": 3}
    wanted["mode"] = "hybrid"
    wanted["filters"] = {}
    wanted["snippets"] = True
    wanted["facets"] = False
    wanted["sort"] = "score"
    wanted["offset"] = 0
    wanted["group"] = None
    wanted["prefix"] = False
    assert arguments == wanted
    assert dict(SearchBody.model_validate(arguments)) == arguments
    for more in ({"mode": "psychic"}, {"colour": "red"}, {"top_k": "101"}, {"top_k": "0"}):
        with pytest.raises(ValidationError):
            SearchParameters.model_validate({"q": "seal", **more})


@pytest.mark.parametrize(
    ("model", "name", "meant"),
    [
        *((SearchBody, name, "top_k") for name in ("limit", "k", "n", "size", "topk", "top_K")),
        (SearchBody, "q", "query"),
        (SearchParameters, "query", "q"),
        (SearchBody, "Mode", "mode"),
        (SearchBody, "colour", None),
    ],
)
def test_an_unknown_field_gets_a_suggestion(
    model: type[RequestModel], name: str, meant: str | None
) -> None:
    required = {"query": "seal"} if model is SearchBody else {"q": "seal"}
    with pytest.raises(ValidationError) as caught:
        model.model_validate({**required, "top_k": 101, name: 3})
    top_k, unknown = caught.value.errors()
    assert (top_k["type"], top_k["loc"]) == ("less_than_equal", ("top_k",))
    assert (unknown["type"], unknown["loc"]) == ("extra_forbidden", (name,))
    said = f"did you mean {meant!r}?" if meant else "known: query, top_k, "
    assert unknown["msg"].startswith(f"Extra inputs are not permitted; {said}")


def test_the_schema_has_the_bounds() -> None:
    query, top_k = (
        SearchBody.model_json_schema()["properties"][name] for name in ("query", "top_k")
    )
    assert (query["minLength"], query["maxLength"]) == (1, 2000)
    assert (top_k["minimum"], top_k["maximum"], top_k["default"]) == (1, 100, 10)
