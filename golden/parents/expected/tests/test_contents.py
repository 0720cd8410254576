"""Documents and passages by id, over HTTP."""

from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from lighthouse import load
from lighthouse.index.documents import Documents

INDEX = load()
DOCUMENTS = INDEX.part(Documents.open)
CHUNK = INDEX.chunk(0)


def test_contents_can_be_read(client: TestClient) -> None:
    assert client.get(f"/chunks/{quote(CHUNK.id, safe='')}").json() == CHUNK.to_json()
    assert client.get("/sources").json() == {
        "sources": [source.to_json() for source in DOCUMENTS.sources()]
    }
    assert sum(source.chunks for source in DOCUMENTS.sources()) == INDEX.chunk_count
    documents = [*DOCUMENTS.page(limit=100)]
    assert client.get("/documents").json() == {
        "total": INDEX.document_count,
        "offset": 0,
        "documents": [document.to_json() for document in documents],
    }
    for document in documents[:5]:
        contents = [
            {"id": chunk.id, "section": chunk.section, "position": chunk.position}
            for chunk in DOCUMENTS.chunks_of(document, limit=100)
        ]
        place = f"/documents/{quote(document.id, safe='')}"
        assert client.get(place).json() == {**document.to_json(), "contents": contents}
        part = client.get(place, params={"offset": 1, "limit": 1}).json()
        assert part["contents"] == contents[1:2]
        for copy in document.also_at:
            assert client.get(f"/documents/{quote(copy.document_id, safe='')}").json()["id"] == (
                document.id
            )


def test_pages_of_a_list_follow_each_other(client: TestClient) -> None:
    whole = client.get("/documents", params={"limit": 4}).json()["documents"]
    pages = [
        client.get("/documents", params={"limit": 2, "offset": offset}).json() for offset in (0, 2)
    ]
    assert [document for page in pages for document in page["documents"]] == whole
    assert [page["offset"] for page in pages] == [0, 2]
    assert client.get("/documents", params={"offset": INDEX.document_count}).json() == {
        "total": INDEX.document_count,
        "offset": INDEX.document_count,
        "documents": [],
    }


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/chunks/nowhere", 404),
        ("/documents/nowhere", 404),
        ("/documents?limit=0", 422),
        ("/documents?limit=101", 422),
        ("/documents?offset=-1", 422),
    ],
)
def test_error_is_a_problem_document(client: TestClient, path: str, status: int) -> None:
    problem = client.get(path)
    assert (problem.status_code, problem.json()["status"]) == (status, status)
