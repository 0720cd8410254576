"""The contents of a folder, from the paths of an index and of a view."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from hypothesis import given, settings
from hypothesis import strategies as st
from small_indexes import Note, make_document, write_documents
from starlette.testclient import TestClient

from foundry.documents import Place
from foundry.indexing.versions import open_index
from foundry.runtime.index.reader import Index, OpenedIndex
from foundry.runtime.retrieval.filters import FilterColumns
from foundry.runtime.retrieval.view import view_of
from foundry.runtime.web import folders
from foundry.runtime.web.folders import folder_routes

PATHS = (
    *("guide/a.md", "guide/air/fans.md", "guide/air/doors/steel.md", "guide/zinc.md"),
    *("guide.md", "logs/", "logs/monday.md", "top.md", "guide/air.md"),
)
"""Every second document, beginning with the first, has a tag."""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> OpenedIndex:
    documents = []
    for number, path in enumerate(PATHS):
        tags = () if number % 2 else ("seen",)
        document, *rest = make_document(number, Note(path, ("text",), tags=tags))
        copies = (Place("twin", "s1", "guide/twin.md", None, "Twin"),) * (path == "guide/a.md")
        documents.append((replace(document, path=path, also_at=copies), *rest))
    folder = tmp_path_factory.mktemp("folders") / "v"
    return open_index(write_documents(folder, documents, vectors=False))


@pytest.fixture
def client(index: OpenedIndex, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setattr(folders, "current_index", lambda: index)
    app = FastAPI()
    app.include_router(folder_routes)
    return TestClient(app)


def ask(client: TestClient, **asked: Any) -> Any:
    return client.get("/folders", params=asked).json()


def test_folders_and_documents_are_in_path_order(client: TestClient) -> None:
    found = ask(client)
    assert found["folders"] == [
        {"path": "guide/", "documents": 5},
        {"path": "logs/", "documents": 2},
    ]
    assert [each["path"] for each in found["documents"]] == ["guide.md", "top.md"]
    assert found["documents"][0] == {
        "document_id": "d4",
        "source": "s0",
        "path": "guide.md",
        "url": "https://notes.example/4",
        "title": "guide.md",
        "modified": None,
    }
    assert "next" not in found
    assert found["path"] == ""


def test_a_folder_contains_its_documents_and_copies_by_their_own_names(client: TestClient) -> None:
    found = ask(client, path="guide/")
    assert found["folders"] == [{"path": "guide/air/", "documents": 2}]
    named = [(each["path"], each["document_id"], each["title"]) for each in found["documents"]]
    assert named == [
        ("guide/a.md", "d0", "guide/a.md"),
        ("guide/air.md", "d8", "guide/air.md"),
        ("guide/twin.md", "twin", "Twin"),
        ("guide/zinc.md", "d3", "guide/zinc.md"),
    ]


def test_a_page_with_the_path_of_a_folder_is_in_it(client: TestClient) -> None:
    found = ask(client, path="logs/")
    assert [each["path"] for each in found["documents"]] == ["logs/", "logs/monday.md"]
    assert found["folders"] == []
    first = ask(client, path="logs/", limit=1)
    assert [each["path"] for each in first["documents"]] == ["logs/"]
    rest = ask(client, path="logs/", after=first["next"])
    assert [each["path"] for each in rest["documents"]] == ["logs/monday.md"]


def test_a_missing_folder_is_empty_and_invalid_paths_are_refused(client: TestClient) -> None:
    assert ask(client, path="none/") == {"path": "none/", "folders": [], "documents": []}
    longest = "x" * 4_095 + "/"
    assert ask(client, path=longest)["path"] == longest
    for path in ("guide", "guide/a.md", f"x{longest}"):
        assert client.get("/folders", params={"path": path}).status_code == 422


@pytest.mark.parametrize("folder", ["", "guide/", "guide/air/", "logs/"])
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_parts_of_a_long_folder_are_consecutive(
    client: TestClient, folder: str, limit: int
) -> None:
    whole = ask(client, path=folder)
    parts: dict[str, list[Any]] = {"folders": [], "documents": []}
    asked: dict[str, Any] = {"path": folder, "limit": limit}
    while True:
        part = ask(client, **asked)
        assert len(part["folders"]) + len(part["documents"]) <= limit
        for name, known in parts.items():
            known += part[name]
        if "next" not in part:
            break
        asked["after"] = part["next"]
    assert parts == {name: whole[name] for name in parts}


def test_other_requests_are_answered_meanwhile(
    client: TestClient, index: OpenedIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    def index_outside_the_loop() -> Index:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        return index

    monkeypatch.setattr(folders, "current_index", index_outside_the_loop)
    assert [each["path"] for each in ask(client)["folders"]] == ["guide/", "logs/"]


def test_folders_of_a_view_contain_only_its_documents(index: OpenedIndex) -> None:
    view = view_of(index, {"tags": "seen"})
    named = {path: len(each) for path, each in view.part(FilterColumns.open).children("", None)}
    assert named == {"guide.md": 1, "guide/": 3, "logs/": 1}
    named = {
        path: len(each) for path, each in view.part(FilterColumns.open).children("guide/", None)
    }
    assert named == {"guide/a.md": 1, "guide/air/": 1, "guide/air.md": 1, "guide/twin.md": 1}


names = st.lists(st.sampled_from(["a", "b", "a-", "a.md", "é", "\u0001"]), min_size=1, max_size=4)


@settings(max_examples=13, deadline=None)
@given(paths=st.lists(names.map("/".join), min_size=1, max_size=12, unique=True))
def test_every_document_is_reachable_from_the_root(
    tmp_path_factory: pytest.TempPathFactory, paths: list[str]
) -> None:
    documents = []
    for number, path in enumerate(paths):
        document, *rest = make_document(number, Note("A", ("text",)))
        documents.append((replace(document, path=path), *rest))
    folder: Path = tmp_path_factory.mktemp("drawn") / "v"
    columns = open_index(write_documents(folder, documents, vectors=False)).part(FilterColumns.open)

    def walk(folder: str) -> list[tuple[str, list[int]]]:
        found = []
        for path, numbers in columns.children(folder, None):
            if path.endswith("/"):
                below = walk(path)
                assert sorted(one for _, each in below for one in each) == numbers.tolist()
                found += below
            else:
                found.append((path, numbers.tolist()))
        return found

    assert sorted(walk("")) == sorted((path, [number]) for number, path in enumerate(paths))
