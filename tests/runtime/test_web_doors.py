"""The HTTP endpoints in process, with a small fake index: responses and rejections."""

from collections.abc import Iterator
from dataclasses import astuple, replace
from types import SimpleNamespace
from typing import Any, Self
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from samples import sample_chunk
from starlette.testclient import TestClient

from foundry.runtime.errors import IndexUnusableError, InvalidRequestError
from foundry.runtime.index.documents import DocumentRecord, SourceList, SourceSummary
from foundry.runtime.index.reader import ServedState
from foundry.runtime.index.records import ChunkRecord
from foundry.runtime.index.tokens import Tokenizer
from foundry.runtime.retrieval.filters import KNOWN_FIELDS, Filters, parse_filters
from foundry.runtime.retrieval.journal import Group, Mode
from foundry.runtime.retrieval.results import Highlights, Hit, LaneRanks, LaneScores, SearchResponse
from foundry.runtime.settings import Limits
from foundry.runtime.web import documents as web_documents
from foundry.runtime.web import filtered
from foundry.runtime.web import routes as web_routes
from foundry.runtime.web.documents import DocumentContents, DocumentPage
from foundry.runtime.web.middleware import SECURITY_HEADERS, Middleware
from foundry.runtime.web.problems import FAILURES, PROBLEM_RESPONSES, answer_failure
from foundry.runtime.web.routes import in_event_loop

ODD_ID = "guide/a b/ä?#&\\..;'\".md"
CHUNK = sample_chunk(
    id=ODD_ID + "~1",
    document_id=ODD_ID,
    text="Verbatim \N{SNOWMAN} text.",
    section=["Guide", "Start"],
    position={"char_start": 0, "char_end": 16, "line_start": 1, "line_end": 1},
    tags=["a"],
    modified="2024-05-31",
)
DOCUMENT = DocumentRecord(
    id=ODD_ID,
    title="Guide",
    source="docs",
    path="guide.md",
    url="https://example.com/guide",
    media_type="text/markdown",
    sha256="0" * 64,
    bytes=17,
    modified=None,
    tags=[],
    metadata={"author": "x"},
    reader="markdown 1",
    also_at=[],
    chunks=1,
    chunk_start=0,
)
HUGE = replace(DOCUMENT, id="huge", chunks=250)


class FakeIndex:
    """A fake index, which is also each of its parts."""

    columns = ("team",)
    tokenizer = Tokenizer("english")
    version = "0123456789abcdef"
    chunk_count = 1
    document_count = 1

    def find_chunk(self, chunk_id: str) -> ChunkRecord | None:
        return CHUNK if chunk_id == CHUNK.id else None

    def part(self, _kind: object) -> Self:
        return self

    def known_values(self, name: str, most: int) -> list[str]:
        return ["guide", "records"] if name == "source" and most >= 2 else []

    def find(self, document_id: str) -> DocumentRecord | None:
        return next((known for known in (DOCUMENT, HUGE) if known.id == document_id), None)

    def page(self, offset: int, limit: int) -> list[DocumentRecord]:
        return [DOCUMENT][offset : offset + limit]

    def chunks_of(
        self, document: DocumentRecord, offset: int = 0, limit: int | None = None
    ) -> list[ChunkRecord]:
        if document is HUGE:
            end = HUGE.chunks if limit is None else min(HUGE.chunks, offset + limit)
            return [replace(CHUNK, id=f"{HUGE.id}~{number}") for number in range(offset, end)]
        return [CHUNK][offset:] if document is DOCUMENT else []

    def sources(self) -> list[SourceSummary]:
        return [SourceSummary("docs", 1, 1)]


class Search:
    """Answers every query with one hit, and records its arguments."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int, Mode, dict[str, tuple[str, ...]]]] = []
        self.paged: list[tuple[int, Group | None]] = []

    def __call__(
        self,
        query: str,
        top_k: int = 10,
        *,
        mode: Mode = "hybrid",
        filters: Filters | None = None,
        offset: int = 0,
        group: Group | None = None,
        facets: bool = False,
    ) -> SearchResponse:
        assert not facets
        self.paged.append((offset, group))
        parsed = parse_filters(filters)
        for name in parsed.keys() - KNOWN_FIELDS:
            raise InvalidRequestError("there is no such filter", field=f"filters.{name}")
        self.asked.append((query, top_k, mode, parsed))
        if query == "raise":
            raise RuntimeError("a secret of the server")
        hit = Hit(*astuple(CHUNK), 0.5, LaneScores(0.6, None), LaneRanks(1, None), {"recency": 0.1})
        return SearchResponse(query, mode, "default", False, "strong", (), 0.1, {}, (hit,))


def make_client(search: Search) -> TestClient:
    app = FastAPI(
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers=dict.fromkeys(FAILURES, answer_failure),
        responses=PROBLEM_RESPONSES,
    )
    app.include_router(web_routes.search_routes(in_event_loop(search)))
    app.include_router(web_documents.document_routes)
    app.include_router(web_routes.health_routes())
    limits = Limits(connections=9, searches=9, streams=9)
    app.add_middleware(Middleware, allowed_hosts=frozenset(), limits=limits, max_body_bytes=262_144)
    return TestClient(app, base_url="http://127.0.0.1:8000")


@pytest.fixture
def search() -> Search:
    return Search()


@pytest.fixture
def client(search: Search, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setattr(web_routes, "current_index", FakeIndex)
    monkeypatch.setattr(web_documents, "current_index", FakeIndex)
    monkeypatch.setattr(filtered, "schema_index", FakeIndex)
    monkeypatch.setattr(web_routes, "served", SimpleNamespace(state=ServedState(verified=True)))
    yield make_client(search)


def refused(response: Any, status: int, field: str | None = None) -> dict[str, Any]:
    """Check the whole response of a refusal, and return its problem document."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    for name, value in SECURITY_HEADERS:
        assert response.headers[name.decode()] == value.decode()
    problem: dict[str, Any] = response.json()
    assert problem["type"] == "about:blank"
    assert problem["status"] == status
    assert problem["title"] and problem["detail"]
    if field is not None:
        assert [error["field"] for error in problem["errors"]] == [field]
    return problem


def post_raw(client: TestClient, body: bytes | str) -> Any:
    return client.post("/search", content=body, headers={"Content-Type": "application/json"})


def test_responses_match_their_schemas(client: TestClient) -> None:
    answer = TypeAdapter(SearchResponse).validate_json(
        client.post("/search", json={"query": "verbatim"}).content, strict=True
    )
    (hit,) = answer.hits
    assert (hit.text, hit.snippet) == (CHUNK.text, CHUNK.text)
    assert hit.highlights == Highlights([(0, 8)], [], [[], []])
    plain = client.post("/search", json={"query": "q", "snippets": False}).content
    assert b"snippet" not in plain and b"highlights" not in plain
    assert client.get("/search?q=q&snippets=false").content == plain
    TypeAdapter(SearchResponse).validate_json(plain, strict=True)
    chunk = client.get(f"/chunks/{quote(CHUNK.id, safe='')}")
    assert TypeAdapter(ChunkRecord).validate_json(chunk.content, strict=True).text == CHUNK.text
    document = client.get(f"/documents/{quote(ODD_ID, safe='')}")
    contents = TypeAdapter(DocumentContents).validate_json(document.content, strict=True)
    assert [place.id for place in contents.contents] == [CHUNK.id]
    page = TypeAdapter(DocumentPage).validate_json(client.get("/documents").content, strict=True)
    assert (page.total, len(page.documents)) == (1, 1)
    assert client.get("/documents?offset=1").json()["documents"] == []
    TypeAdapter(SourceList).validate_json(client.get("/sources").content, strict=True)
    assert client.get("/readyz").json() == {
        "status": "ok",
        "problem": None,
        "verified": True,
        "index_version": FakeIndex.version,
        "chunks": 1,
        "documents": 1,
    }
    assert client.get("/healthz").json() == {"status": "ok"}


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ("", range(100)),
        ("?offset=100", range(100, 200)),
        ("?offset=240&limit=5", range(240, 245)),
        ("?offset=240", range(240, 250)),
        ("?offset=250", range(0)),
    ],
)
def test_contents_of_a_document_come_in_pages(
    client: TestClient, asked: str, numbers: range
) -> None:
    answer = client.get(f"/documents/huge{asked}")
    found = TypeAdapter(DocumentContents).validate_json(answer.content, strict=True)
    assert [place.id for place in found.contents] == [f"huge~{number}" for number in numbers]
    assert found.chunks == 250
    for name, value in (("limit", 101), ("limit", 0), ("offset", -1), ("offset", 10**9 + 1)):
        refused(client.get(f"/documents/huge?{name}={value}"), 422, name)
    assert client.get(f"/documents/huge?offset={10**9}&limit=1").status_code == 200
    refused(client.get("/documents/huge?page=2"), 422, "page")


def test_post_and_get_are_equivalent(client: TestClient, search: Search) -> None:
    body = {
        "query": " a query ",
        "top_k": 3,
        "mode": "keyword",
        "filters": {"source": ["docs"], "tags": ["a", "b"], "modified_after": "2024-01-01"},
        "offset": 20,
        "group": "document",
    }
    posted = client.post("/search", json=body)
    got = client.get(
        "/search?q=%20a+query%20&top_k=3&mode=keyword&source=docs&tag=a&tag=b"
        "&modified_after=2024-01-01&offset=20&group=document"
    )
    assert search.paged == [(20, "document")] * 2
    assert posted.json() == got.json()
    assert search.asked[0] == search.asked[1]
    assert search.asked[0][:3] == ("a query", 3, "keyword")
    assert search.asked[0][3] == {
        "source": ("docs",),
        "tags": ("a", "b"),
        "modified_after": ("2024-01-01",),
    }


def test_openapi_describes_requests_responses_and_refusals_exactly(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) == {
        "/search",
        "/chunks/{chunk_id}",
        "/documents",
        "/documents/{document_id}",
        "/sources",
        "/healthz",
        "/readyz",
    }
    for operations in document["paths"].values():
        for operation in operations.values():
            assert set(operation["responses"]) == {"200", "default"}
            assert "application/problem+json" in operation["responses"]["default"]["content"]
    request = document["components"]["schemas"]["SearchBody"]
    assert request["additionalProperties"] is False
    assert request["properties"]["query"]["maxLength"] == 2000
    assert request["properties"]["top_k"]["maximum"] == 100
    filters = request["properties"]["filters"]["anyOf"][0]["properties"]
    assert filters["source"]["anyOf"][0]["enum"] == ["guide", "records"]
    assert filters["modified_after"]["anyOf"][0]["format"] == "date"
    parameters = document["paths"]["/search"]["get"]["parameters"]
    assert [parameter["name"] for parameter in parameters] == [
        "q",
        "top_k",
        "mode",
        "source",
        "tag",
        "modified_after",
        "modified_before",
        "filter",
        "offset",
        "group",
        "prefix",
        "facets",
        "sort",
        "snippets",
    ]


@pytest.mark.parametrize("body", ["[]", '"a"', "1", "null"])
def test_json_that_is_not_an_object(client: TestClient, body: str) -> None:
    refused(post_raw(client, body), 422, "body")


def test_query_missing(client: TestClient) -> None:
    refused(client.post("/search", json={}), 422, "query")
    refused(client.get("/search"), 422, "q")
    refused(client.get("/search?q="), 422, "q")
    refused(client.get("/search?q=%20"), 422, "q")
    refused(post_raw(client, b""), 422, "body")


def test_parameters_that_are_not_lists_may_not_be_repeated(client: TestClient) -> None:
    refused(client.get("/search?q=a&q=b"), 422, "q")
    refused(client.get("/search?q=a&top_k=3&top_k=3"), 422, "top_k")
    assert client.get("/search?q=a&tag=a&tag=b&source=docs&source=c").status_code == 200


@pytest.mark.parametrize(
    "query",
    ['"', "*", "AND", "NEAR(", "what is c++?", "col:x", "-", "' OR 1=1 --", "%", "\\", "../x"],
)
def test_query_that_looks_like_syntax(client: TestClient, query: str) -> None:
    for response in (
        client.post("/search", json={"query": query}),
        client.get("/search", params={"q": query}),
    ):
        assert response.status_code == 200
        assert response.json()["query"] == query
        assert isinstance(response.json()["results"], list)


def test_a_query_string_that_is_not_utf_8_is_searched_for(client: TestClient) -> None:
    assert client.get("/search?q=%ED%A0%80").status_code == 200


@pytest.mark.parametrize("query", ["a\0b", "\u202eabc", "\U0001f600", "שלום", "e\u0301", "\ufeff"])
def test_query_of_unusual_characters(client: TestClient, query: str) -> None:
    assert client.post("/search", json={"query": query}).status_code == 200
    assert client.get("/search", params={"q": query}).status_code == 200


@pytest.mark.parametrize(
    "top_k", ["0", "-1", "101", "1.5", "", "five", "0x5", "\u0665", "1" * 5000]
)
def test_top_k_of_get(client: TestClient, top_k: str) -> None:
    refused(client.get("/search", params={"q": "a", "top_k": top_k}), 422, "top_k")


@pytest.mark.parametrize("top_k", ["10", "010", "10.0"])
def test_top_k_of_get_is_a_whole_number(client: TestClient, search: Search, top_k: str) -> None:
    assert client.get("/search", params={"q": "a", "top_k": top_k}).status_code == 200
    assert search.asked[0][1] == 10


@pytest.mark.parametrize(
    ("filters", "field"),
    [
        ({"colour": "red"}, "filters.colour"),
        ({"1=1; DROP TABLE chunks": "x"}, "filters.1=1; DROP TABLE chunks"),
        ({"source": 1}, "filters.source"),
        ({"tags": [["a"]]}, "filters.tags"),
        ([], "filters"),
        ("source", "filters"),
    ],
)
def test_invalid_filters_are_refused(client: TestClient, filters: object, field: str) -> None:
    refused(client.post("/search", json={"query": "a", "filters": filters}), 422, field)


@pytest.mark.parametrize("depth", [500, 10_000])
def test_deeply_nested_filter(client: TestClient, depth: int) -> None:
    nested = '{"query": "a", "filters": {"source": ' + "[" * depth + "]" * depth + "}}"
    response = post_raw(client, nested)
    refused(response, response.status_code)
    assert response.status_code in (400, 422)


def test_errors_name_the_filter_of_get_as_written(client: TestClient) -> None:
    refused(client.get("/search?q=a&filter=colour=red"), 422, "colour")


def test_unknown_query_parameter(client: TestClient) -> None:
    problem = refused(client.get("/search?q=a&token=secret"), 422, "token")
    assert "secret" not in problem["detail"]
    problem = refused(client.get("/search?q=a&zebra=1"), 422, "zebra")
    assert "; known: q, top_k, mode, " in problem["detail"]
    problem = refused(client.get("/search?q=a&path=docs"), 422, "path")
    assert problem["detail"].endswith("; it is a filter, so write it as 'filter=path=...'")
    for path, meant in (("/search?q=a&limit=3", "top_k"), ("/documents?n=2", "limit")):
        assert client.get(path).json()["detail"].endswith(f"did you mean '{meant}'?")


@pytest.mark.parametrize(
    "path",
    [
        "/..%2f..%2fetc/passwd",
        "//etc/passwd",
        "/%00",
        "/\\",
        "/chunks/..%2f..%2fetc%2fpasswd",
        "/documents/%00",
        "/documents//etc/passwd",
        "/documents/",
        "/docs",
        "/redoc",
        "/search/",
        "/metrics",
        "/",
    ],
)
def test_unknown_paths_are_not_found(client: TestClient, path: str) -> None:
    refused(client.get(f"http://127.0.0.1:8000{path}"), 404)


def test_options_from_a_foreign_origin_allows_nothing(client: TestClient) -> None:
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    foreign = client.options("/search", headers=headers)
    refused(foreign, 403)
    own = client.options("/search", headers={**headers, "Origin": "http://127.0.0.1:8000"})
    refused(own, 405)
    for response in (foreign, own):
        assert not [name for name in response.headers if name.startswith("access-control")]


def test_unexpected_error_reveals_nothing(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    response = client.post("/search", json={"query": "raise"})
    refused(response, 500)
    assert "secret" not in response.text and "RuntimeError" not in response.text
    assert "a secret of the server" in caplog.text


def test_unusable_index_is_503(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def current_index() -> FakeIndex:
        raise IndexUnusableError("/srv/secret/index: damaged", hint="build it again")

    monkeypatch.setattr(web_routes, "current_index", current_index)
    response = client.get("/readyz")
    refused(response, 503)
    assert "/srv" not in response.text
    assert response.headers["retry-after"]
    assert client.get("/healthz").status_code == 200


@pytest.fixture(scope="module")
def lasting_client() -> Iterator[TestClient]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(web_routes, "current_index", FakeIndex)
        yield make_client(Search())


@settings(deadline=None)
@given(query=st.text())
def test_any_query_is_answered_or_refused(lasting_client: TestClient, query: str) -> None:
    assert lasting_client.get("/search", params={"q": query}).status_code in (200, 422)


@settings(deadline=None)
@given(body=st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_body_is_answered_or_refused(lasting_client: TestClient, body: bytes) -> None:
    assert post_raw(lasting_client, body).status_code in (200, 400, 422)
