"""Completions of a query: words and headings, and the endpoint of a server."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_indexes import Note, rendered_server, write_notes
from starlette.testclient import TestClient

from foundry.config.search import IndexOptions
from foundry.indexing.versions import open_index
from foundry.runtime.errors import IndexUnusableError
from foundry.runtime.index.reader import Index
from foundry.runtime.retrieval.stages.suggestions import (
    MAX_HEADINGS,
    MAX_WORDS,
    fold,
    open_completions,
    suggest,
)

NOTES = [
    Note("Safety Requirements", ("Ventilate before you enter. Ventilation is checked.",)),
    Note("Requirements", ("Ventilation, ventilation; `venvPath` and max_size.",)),
    Note("Übersicht der Räume", ("Ventilatoren sind laut.",)),
    Note("Safety in Mines", ("Vents. A vent is open, a vent is shut.",)),
]
OPTIONS = IndexOptions(suggested_words=1_000)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("suggestions") / "v"
    return open_index(write_notes(folder, NOTES, vectors=False, options=OPTIONS))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("ven", ["ventilation", "vent", "ventilate", "ventilatoren"]),
        ("venv", ["venvPath"]),
        ("max_", ["max_size"]),
        ("Requ", ["Requirements", "Safety Requirements"]),
        ("ÜBER", ["übersicht", "Übersicht der Räume"]),
    ],
)
def test_words_and_headings_are_suggested(index: Index, query: str, expected: list[str]) -> None:
    found = suggest(index, query)
    assert [suggestion.text for suggestion in found] == expected
    titles = {note.title for note in NOTES}
    assert all((one.kind == "heading") == (one.text in titles) for one in found)


@given(st.text(max_size=40))
def test_every_suggestion_continues_what_was_typed(index: Index, query: str) -> None:
    found = suggest(index, query)
    assert len(found) <= MAX_WORDS + MAX_HEADINGS
    assert len({suggestion.text for suggestion in found}) == len(found)
    for suggestion in found:
        beginning = fold(query)
        if suggestion.kind == "word":
            assert fold(suggestion.text).startswith(beginning)
        else:
            assert beginning in fold(suggestion.text)


def test_an_index_without_suggestions_is_refused(tmp_path: Path) -> None:
    plain = open_index(write_notes(tmp_path / "v", NOTES[:1], vectors=False))
    with pytest.raises(IndexUnusableError):
        open_completions(plain)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    root = tmp_path_factory.mktemp("server")
    with rendered_server(root, "suggesting", "[search.suggestions]\n") as package:
        package.load(write_notes(root / "v", NOTES, options=OPTIONS))
        yield package


def test_the_endpoint_returns_suggestions(server: ModuleType) -> None:
    app = importlib.import_module(f"{server.__name__}.app").create_app()
    client = TestClient(app, base_url="http://127.0.0.1:8000")
    assert client.get("/suggest", params={"q": "safety re"}).json() == {
        "query": "safety re",
        "suggestions": [{"text": "Safety Requirements", "kind": "heading"}],
    }
    assert client.get("/suggest").json() == {"query": "", "suggestions": []}
    assert client.get("/suggest", params={"q": "x" * 201}).status_code == 422
    assert client.get("/suggest", params={"p": "x"}).status_code == 422
    assert "function suggestBelow" in client.get("/", headers={"Accept": "text/html"}).text
    assert "/suggest" in client.get("/openapi.json").json()["paths"]
