"""Arguments of MCP tools as language models send them: interpreted, or rejected."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundry.runtime.errors import InvalidRequestError
from foundry.runtime.mcp import arguments
from foundry.runtime.mcp.arguments import RefusedCallError, read_arguments
from foundry.runtime.mcp.models import MODELS
from foundry.runtime.retrieval.filters import parse_filters

WORDS = st.text(st.characters(categories=["L"]), min_size=1).filter(lambda text: text != "null")
SCHEMAS = {name: model.model_json_schema() for name, model in MODELS.items()}


def read_of(tool: str, sent: dict[str, Any]) -> dict[str, Any]:
    return read_arguments(tool, SCHEMAS[tool], sent)


def read(**sent: Any) -> dict[str, Any]:
    found = read_of("search", {"query": "pump", **sent})
    return {name: found[name] for name in sent}


@given(
    st.dictionaries(st.sampled_from(["tags", "source", "path"]), st.lists(WORDS, min_size=1)),
    st.data(),
)
def test_filters_are_understood_however_they_are_encoded(
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
def test_omitted_arguments_have_defaults(absent: object) -> None:
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
def test_a_number_may_be_a_string(written: object) -> None:
    assert read(top_k=written) == {"top_k": 2}


def test_a_mode_may_be_quoted() -> None:
    assert read(mode='"keyword"') == {"mode": "keyword"}


def test_numbers_and_booleans_are_filter_values() -> None:
    found = read(filters={"year": 2024, "draft": False, "size": [1.5, "2"]})["filters"]
    assert found == {"year": "2024", "draft": "false", "size": ["1.5", "2"]}


def test_lists_of_pairs_are_filters() -> None:
    for sent in ("tags=old", ["tags=old"], '["tags=old"]'):
        assert read(filters=sent) == {"filters": {"tags": ["old"]}}


@pytest.mark.parametrize("filters", ["old", "{tags: old}", 5, ["old"], [{"tags": "old"}], True])
def test_invalid_filters_are_refused_with_a_valid_example(filters: object) -> None:
    with pytest.raises(InvalidRequestError) as raised:
        read(filters=filters)
    assert (raised.value.field, "an object, such as {" in raised.value.message) == ("filters", True)


@pytest.mark.parametrize(("top_k", "mode"), [("ten", None), ("[2]", None), (2.5, None), (2, "x")])
def test_impossible_values_are_refused(top_k: object, mode: object) -> None:
    with pytest.raises(RefusedCallError):
        read(top_k=top_k, mode=mode)


@pytest.mark.parametrize("name", ["tags", "source", "modified_after"])
def test_a_filter_as_a_top_level_argument_is_accepted(name: str) -> None:
    with pytest.raises(RefusedCallError, match="move it to 'filters'"):
        read(**{name: "old"})


@given(st.sampled_from(["2", "null", "{}", '["a"]', "true"]) | WORDS)
def test_string_arguments_are_not_parsed(text: str) -> None:
    assert read_of("fetch", {"id": text}) == {"id": text}
    assert read_of("search", {"query": text})["query"] == text.strip()


VALUES = st.sampled_from(
    ["pump", " pump", "pump\x1f", "\u200b", "", "x" * 2_000, "x" * 2_001, "keyword", "semantic"]
) | st.sampled_from([None, True, 0, 1, 100, 101, 2.0, 2.5, [], ["pump"], {}, {"tags": "a"}])


@given(
    st.sampled_from(sorted(MODELS)),
    st.dictionaries(
        st.sampled_from(["query", "top_k", "mode", "filters", "id", "limit"]), VALUES, max_size=4
    ),
)
def test_the_fast_path_agrees_with_the_models(tool: str, sent: dict[str, Any]) -> None:
    def read_by(**patched: Any) -> object:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in patched.items():
                patch.setattr(arguments, name, value)
            try:
                return read_of(tool, sent)
            except (RefusedCallError, InvalidRequestError) as error:
                return str(error)

    assert read_by() == read_by(_is_plain=lambda *_: False)


def test_valid_arguments_need_no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("validated")

    monkeypatch.setattr(arguments, "_validate", refuse)
    for mode in ("hybrid", "semantic", "keyword", None):
        found = read(top_k="5", mode=mode, filters={"tags": "old"})
        assert found == {"top_k": 5, "mode": mode or "hybrid", "filters": {"tags": "old"}}
    assert read_of("search", {"query": "pump"}) == {
        "query": "pump",
        "top_k": 10,
        "mode": "hybrid",
        "filters": None,
        "offset": 0,
    }
    assert read(offset="20") == {"offset": 20}
    assert read_of("fetch", {"id": "guide.md#1"}) == {"id": "guide.md#1"}
    assert read_of("list_sources", {}) == {}
