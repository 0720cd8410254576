"""Arguments of MCP tools as language models send them: read as they are meant, or refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from foundry.runtime.errors import InvalidRequestError
from foundry.runtime.mcp.arguments import read_arguments
from foundry.runtime.retrieval.filters import parse_filters
from foundry.runtime.web.requests import RequestModel, SearchArguments

WORDS = st.text(st.characters(categories=["L"]), min_size=1).filter(lambda text: text != "null")


class FetchRequest(RequestModel):
    """Arguments of a tool whose one text may look like anything."""

    id: str


def read(**sent: Any) -> dict[str, Any]:
    arguments = dict(read_arguments(SearchArguments, {"query": "pump", **sent}))
    return {name: arguments[name] for name in sent}


@given(
    st.dictionaries(st.sampled_from(["tags", "source", "path"]), st.lists(WORDS, min_size=1)),
    st.data(),
)
def test_filters_mean_the_same_however_they_are_wrapped(
    filters: dict[str, list[str]], data: st.DataObject
) -> None:
    def wrap(values: list[str]) -> object:
        forms: list[object] = [values, json.dumps(values), [json.dumps(values)], [*values, None]]
        if len(values) == 1:
            forms += [values[0], json.dumps(values[0])]
        return data.draw(st.sampled_from(forms))

    sent: object = {name: wrap(values) for name, values in filters.items()}
    if data.draw(st.booleans()):
        sent = json.dumps(sent)
    found = parse_filters(read(filters=sent)["filters"])
    assert found == {name: tuple(dict.fromkeys(values)) for name, values in filters.items()}


@pytest.mark.parametrize("absent", [None, "", "null", " null "])
def test_what_is_left_out_has_its_default(absent: object) -> None:
    assert read(top_k=absent, mode=absent, filters=absent) == {
        "top_k": 10,
        "mode": "hybrid",
        "filters": None,
    }
    assert parse_filters(read(filters={"tags": absent, "source": "a"})["filters"]) == {
        "tags": (),
        "source": ("a",),
    }


@pytest.mark.parametrize("written", [2, 2.0, "2", "2.0", " 2 ", '"2"'])
def test_a_number_may_be_a_text(written: object) -> None:
    assert read(top_k=written) == {"top_k": 2}


def test_a_mode_may_be_quoted() -> None:
    assert read(mode='"keyword"') == {"mode": "keyword"}


def test_numbers_and_truths_are_values_of_filters() -> None:
    found = read(filters={"year": 2024, "draft": False, "size": [1.5, "2"]})["filters"]
    assert found == {"year": "2024", "draft": "false", "size": ["1.5", "2"]}


def test_pairs_are_filters() -> None:
    for sent in ("tags=old", ["tags=old"], '["tags=old"]'):
        assert read(filters=sent) == {"filters": {"tags": ["old"]}}


@pytest.mark.parametrize("filters", ["old", "{tags: old}", 5, ["old"], [{"tags": "old"}], True])
def test_other_filters_are_refused_with_what_to_send(filters: object) -> None:
    with pytest.raises(InvalidRequestError) as raised:
        read(filters=filters)
    assert (raised.value.field, "an object, such as {" in raised.value.message) == ("filters", True)


@pytest.mark.parametrize(("top_k", "mode"), [("ten", None), ("[2]", None), (2.5, None), (2, "x")])
def test_impossible_values_are_refused(top_k: object, mode: object) -> None:
    with pytest.raises(ValidationError):
        read(top_k=top_k, mode=mode)


@pytest.mark.parametrize("name", ["tags", "source", "modified_after"])
def test_a_filter_beside_the_filters_is_sent_there(name: str) -> None:
    with pytest.raises(ValidationError, match="put it into 'filters'"):
        read(**{name: "old"})


@given(st.sampled_from(["2", "null", "{}", '["a"]', "true"]) | WORDS)
def test_a_text_that_is_wanted_as_text_stays_as_it_is(text: str) -> None:
    assert read_arguments(FetchRequest, {"id": text}).id == text
    assert read_arguments(SearchArguments, {"query": text}).query == text.strip()
