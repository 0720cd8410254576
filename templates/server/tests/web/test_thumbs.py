"""Thumbs are accepted only for existing passages; the response says whether they were kept."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from foundry.runtime.web.problems import FAILURES, answer_failure
from foundry.runtime.web.thumbs import thumb_routes

PASSAGE = {"query": " seal ", "id": "c1", "thumb": "down"}


class Log:
    """A question log that records its calls."""

    def __init__(self, file: Path | None, *, is_kept: bool = True) -> None:
        self.file = file
        self.is_kept = is_kept
        self.told: list[tuple[str, str, str]] = []

    def add_thumb(self, query: str, document: str, thumb: str) -> bool:
        self.told.append((query, document, thumb))
        return self.file is not None and self.is_kept


def client_of(log: Any) -> TestClient:
    app = FastAPI(exception_handlers=dict.fromkeys(FAILURES, answer_failure))
    app.include_router(thumb_routes(log))
    return TestClient(app)


@pytest.fixture(autouse=True)
def index(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index with one passage."""
    chunk = SimpleNamespace(document_id="d1")
    known = SimpleNamespace(find_chunk=lambda name: chunk if name == "c1" else None)
    monkeypatch.setattr(f"{thumb_routes.__module__}.current_index", lambda: known)


@pytest.mark.parametrize(("file", "kept"), [(Path("/x"), True), (None, False)])
def test_a_thumb_goes_to_the_log(file: Path | None, kept: bool) -> None:
    log = Log(file)
    client = client_of(log)
    assert client.get("/thumbs").json() == {"kept": kept}
    assert client.post("/thumbs", json=PASSAGE).json() == {"kept": kept}
    assert log.told == [("seal", "d1", "down")]


def test_a_thumb_that_is_lost_is_not_said_to_be_kept() -> None:
    client = client_of(Log(Path("/x"), is_kept=False))
    assert client.post("/thumbs", json=PASSAGE).json() == {"kept": False}


@pytest.mark.parametrize(
    "wrong",
    [{"id": "c2"}, {"id": ""}, {"id": "x" * 4_097}, {"thumb": "both"}, {"query": ""}, {"text": ""}],
)
def test_other_thumbs_are_refused(wrong: dict[str, str]) -> None:
    log = Log(Path("/x"))
    refused = client_of(log).post("/thumbs", json={**PASSAGE, **wrong})
    assert (refused.status_code, log.told) == (422, [])
    assert refused.headers["content-type"] == "application/problem+json"


def test_an_id_as_long_as_it_may_be_is_looked_up() -> None:
    refused = client_of(Log(None)).post("/thumbs", json={**PASSAGE, "id": "x" * 4_096})
    assert "there is no passage with this id" in refused.text
