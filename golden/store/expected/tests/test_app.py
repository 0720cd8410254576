"""The HTTP application, in process: every door answers, and closed doors say why."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from harbour import load, search_hybrid
from harbour.app import create_app
from harbour.web_answers import (
    ChunkAnswer,
    DocumentContents,
    DocumentPage,
    SearchAnswer,
    SourceList,
)
from harbour.web_embedder import Readiness

INDEX = load()
DOCUMENT = INDEX.documents(limit=1)[0]
CHUNK = INDEX.chunks_of(DOCUMENT)[0]
TOKEN = "a-token-of-at-least-32-characters"


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.delenv("API_TOKENS", raising=False)
    with TestClient(create_app(), base_url="http://127.0.0.1:8000") as client:
        yield client


def test_every_door_finds_the_same(client: TestClient) -> None:
    wanted = search_hybrid(DOCUMENT.title, 3).to_json()
    posted = client.post("/search", json={"query": DOCUMENT.title, "top_k": 3})
    got = client.get("/search", params={"q": DOCUMENT.title, "top_k": 3})
    for response in (posted, got):
        assert response.status_code == 200
        answer = SearchAnswer.model_validate_json(response.content).model_dump(exclude_unset=True)
        assert {**answer, "took_ms": 0} == {**wanted, "took_ms": 0}


def test_contents_can_be_read(client: TestClient) -> None:
    chunk = client.get(f"/chunks/{quote(CHUNK.id, safe='')}")
    assert ChunkAnswer.model_validate_json(chunk.content).text == CHUNK.text
    page = client.get("/documents", params={"limit": 1})
    assert DocumentPage.model_validate_json(page.content).total == INDEX.document_count
    document = client.get(f"/documents/{quote(DOCUMENT.id, safe='')}")
    assert DocumentContents.model_validate_json(document.content).contents[0].id == CHUNK.id
    sources = SourceList.model_validate_json(client.get("/sources").content).sources
    assert sum(source.chunks for source in sources) == INDEX.chunk_count


def test_health(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    ready = Readiness.model_validate_json(client.get("/readyz").content)
    assert (ready.index_version, ready.chunks) == (INDEX.version, INDEX.chunk_count)


def test_openapi_names_every_door(client: TestClient) -> None:
    assert set(client.get("/openapi.json").json()["paths"]) >= {
        "/search",
        "/chunks/{chunk_id}",
        "/documents",
        "/documents/{document_id}",
        "/sources",
        "/healthz",
        "/readyz",
    }


@pytest.mark.parametrize(
    ("body", "field"),
    [({}, "query"), ({"query": " "}, "query"), ({"query": "a", "top_k": 0}, "top_k")],
)
def test_impossible_request_names_its_field(
    client: TestClient, body: dict[str, object], field: str
) -> None:
    response = client.post("/search", json=body)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["errors"][0]["field"] == field


def test_foreign_host_and_origin_are_refused(client: TestClient) -> None:
    assert client.get("/healthz", headers={"Host": "evil.example"}).status_code == 421
    assert client.get("/healthz", headers={"Origin": "http://evil.example"}).status_code == 403


def test_token_opens_the_doors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKENS", TOKEN)
    client = TestClient(create_app(), base_url="http://127.0.0.1:8000")
    assert client.get("/sources").status_code == 401
    assert client.get("/sources", headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert client.get("/sources", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert client.get("/healthz").status_code == 200
