"""Queries that are being typed, with an incomplete last word."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from small_indexes import Note, client_of, rendered_server, write_notes
from starlette.testclient import TestClient

from foundry.config.search import IndexOptions
from foundry.indexing.versions import open_index
from foundry.runtime.retrieval.view import view_of
from foundry.runtime.web.unfinished import Terms, complete_query

NOTES = [
    Note("createAsyncThunk", ("A function that dispatches promises as actions.",)),
    Note("createSlice", ("Makes a reducer, and actions with it.",)),
    Note("Settings", ("The configuration of torch.nn.Module is read from a file of Müller's.",)),
    Note("Valves", ("Set the back-pressure before PII-2024-0042 is opened.",)),
    *(Note(f"Filler {n}", (f"The pump of hall {n} creates pressure.",)) for n in range(30)),
]


@pytest.fixture(scope="module", params=["hybrid", "keywords"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ModuleType]:
    root, is_plain = tmp_path_factory.mktemp("server"), request.param == "keywords"
    folder = write_notes(root / "index", NOTES, vectors=not is_plain)
    config = '[embedding]\nprovider = "none"\n' if is_plain else ""
    with rendered_server(root / "project", f"typed_{request.param}", config) as package:
        package.load(folder)
        yield package


@pytest.fixture
def client(server: ModuleType) -> TestClient:
    return client_of(server)


def ask(client: TestClient, query: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/search", json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize(
    ("query", "begun", "title"),
    [
        ("createAsyncThunk", "createA", "createAsyncThunk"),
        ("createasyncthunk", "createas", "createAsyncThunk"),
        ("how does create-async-thunk", "how does create-as", "createAsyncThunk"),
        ("configuration", "con", "Settings"),
        ("torch.nn.Module", "torch.nn.Mo", "Settings"),
        ("what müller", "what mü", "Settings"),
        ("PII-2024-0042", "PII-202", "Valves"),
    ],
)
def test_each_prefix_of_a_word_finds_what_the_word_finds(
    client: TestClient, query: str, begun: str, title: str
) -> None:
    for end in range(len(begun), len(query) + 1):
        found = ask(client, query[:end], prefix=True)
        assert found["query"] == query[:end]
        assert found["results"][0]["title"] == title, query[:end]
        assert found["match"] != "none"
        assert not found["unknown_identifiers"]
        assert "searched" not in found


@pytest.mark.parametrize(
    ("begun", "word"), [("createAsy", "createAsyncThunk"), ("configurat", "configuration")]
)
def test_the_completed_word_is_highlighted(client: TestClient, begun: str, word: str) -> None:
    best = ask(client, begun, prefix=True)["results"][0]
    texts = {"title": best["title"], "snippet": best["snippet"]}
    shown = [text[a:b] for name, text in texts.items() for a, b in best["highlights"][name]]
    assert word in shown


def test_words_that_are_known_or_begin_none_are_not_completed(client: TestClient) -> None:
    for query in ("pump", "create", "zyxgy", "pump zyxgy", "pump?", "C++", "is", "p", "泵", "\"'"):
        asked, begun = ask(client, query), ask(client, query, prefix=True)
        assert {**begun, "took_ms": 0} == {**asked, "took_ms": 0}


def test_the_openapi_document_lists_the_filters_of_the_index_that_is_served(
    server: ModuleType, client: TestClient, tmp_path: Path
) -> None:
    def filters_of() -> set[str]:
        schemas = client.get("/openapi.json").json()["components"]["schemas"]
        choices = schemas["SearchBody"]["properties"]["filters"]["anyOf"]
        return {*choices[0]["properties"]}

    served = server.load.__self__
    before, has_vectors = served.directory, served.whole().manifest.dense is not None
    options = IndexOptions(filterable=("team",))
    assert "team" not in filters_of()
    server.load(write_notes(tmp_path / "new", NOTES, vectors=has_vectors, options=options))
    assert "team" in filters_of()
    server.load(before)
    assert "team" not in filters_of()


def test_words_outside_a_callers_view_complete_nothing(tmp_path: Path) -> None:
    index = open_index(write_notes(tmp_path / "index", NOTES, vectors=False))
    for source, completed in (("s0", "createAsyncThunk"), ("s1", "createAsy")):
        seen = view_of(index, {"source": source})
        assert complete_query(Terms.open(index), seen, "createAsy") == completed


def test_only_requests_with_the_option_are_completed(
    client: TestClient, server: ModuleType
) -> None:
    whole = ask(client, "createAsy")
    assert whole["unknown_identifiers"] in (["createAsy"], [])
    assert whole["match"] != "strong"
    assert server.search_hybrid("createAsy").match == whole["match"]
    by_address = client.get("/search", params={"q": "createAsy", "prefix": "true"}).json()
    assert by_address["results"][0]["title"] == "createAsyncThunk"
    assert client.post("/search", json={"query": "a", "prefix": 1}).status_code == 422
