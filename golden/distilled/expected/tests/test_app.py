"""The HTTP application, in process: every endpoint responds, and rejections give reasons."""

import re
from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from lighthouse import app, load, search_hybrid
from lighthouse.app import create_app
from lighthouse.errors import ConfigurationError
from lighthouse.index.reader import ServedState, served
from lighthouse.retrieval.hooks import Hooks
from lighthouse.retrieval.snippets import add_snippets
from lighthouse.settings import settings

ADDRESS = "http://127.0.0.1:8000"
INDEX = load()
DOCUMENT = INDEX.chunk(0)
# A title may be a word that every text contains, and punctuation could be read as operators.
QUERY = " ".join(re.findall(r"\w+", f"{DOCUMENT.title} {DOCUMENT.text}")[:20])


def test_every_endpoint_finds_the_same(client: TestClient) -> None:
    found = search_hybrid(QUERY, 3)
    add_snippets(found, INDEX.tokenizer)
    wanted = found.to_json()
    posted = client.post("/search", json={"query": QUERY, "top_k": 3})
    got = client.get("/search", params={"q": QUERY, "top_k": 3})
    for response in (posted, got):
        assert response.status_code == 200
        assert {**response.json(), "took_ms": 0} == {**wanted, "took_ms": 0}


def test_a_known_word_is_not_completed(client: TestClient) -> None:
    word = next(word for word in QUERY.split() if search_hybrid(word, 1, mode="keyword").hits)
    whole = client.post("/search", json={"query": word}).json()
    begun = client.post("/search", json={"query": word, "prefix": True}).json()
    assert {**begun, "took_ms": 0} == {**whole, "took_ms": 0}


def test_snippets_can_be_left_out(client: TestClient) -> None:
    wanted = search_hybrid(QUERY, 3).to_json()
    response = client.post("/search", json={"query": QUERY, "top_k": 3, "snippets": False})
    assert {**response.json(), "took_ms": 0} == {**wanted, "took_ms": 0}


def test_ten_results_are_returned_by_default(client: TestClient) -> None:
    wanted = search_hybrid(QUERY, 10).to_json()["results"]
    response = client.post("/search", json={"query": QUERY, "snippets": False})
    assert response.json()["results"] == wanted


def test_health(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    ready = {
        "status": "ok",
        "problem": None,
        "verified": True,
        "index_version": INDEX.version,
        "chunks": INDEX.chunk_count,
        "documents": INDEX.document_count,
    }
    assert client.get("/readyz").json().items() >= ready.items()
    monkeypatch.setattr(served, "state", ServedState(verified=True, problem="It is old."))
    assert client.get("/readyz").json().items() >= (
        {**ready, "status": "degraded", "problem": "It is old."}.items()
    )
    monkeypatch.setattr(served, "state", ServedState())
    monkeypatch.setattr("lighthouse.web.routes.VERIFYING_TURN_SECONDS", 0.0)
    waiting = client.get("/readyz")
    assert (waiting.status_code, waiting.headers["retry-after"]) == (503, "1")
    monkeypatch.setenv("READY_UNVERIFIED", "1")
    assert client.get("/readyz").json().items() >= {**ready, "verified": False}.items()


def test_openapi_names_every_endpoint(client: TestClient) -> None:
    assert set(client.get("/openapi.json").json()["paths"]) >= {
        "/search",
        "/healthz",
        "/readyz",
        "/chunks/{chunk_id}",
        "/documents",
        "/documents/{document_id}",
        "/sources",
        "/chunks",
        "/d/{document_id}",
        "/llms.txt",
    }


def test_filters_of_both_endpoints_are_the_same(client: TestClient) -> None:
    path, source = DOCUMENT.path, DOCUMENT.source
    posted = client.post(
        "/search", json={"query": QUERY, "filters": {"path": path, "source": source}}
    ).json()
    asked = {"q": QUERY, "filter": f"path={path}", "source": source}
    got = client.get("/search", params=asked).json()
    assert posted["results"] == got["results"] != []
    assert all(result["path"].startswith(path) for result in got["results"])
    late = client.get("/search", params={"q": "a", "modified_after": "9000-01-01"})
    tagged = client.get("/search", params={"q": "a", "tag": "no-such-tag"})
    assert late.json()["results"] == tagged.json()["results"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": " "}, "query"),
        ({"query": "a" * 2001}, "query"),
        ({"query": "a", "top_k": 0}, "top_k"),
        ({"query": "a", "top_k": 101}, "top_k"),
        ({"query": "a", "top_k": "3"}, "top_k"),
        ({"query": "a", "mode": "psychic"}, "mode"),
        ({"query": "a", "colour": "red"}, "colour"),
        ({"query": "a", "filters": {"colour": "red"}}, "filters.colour"),
        ({"query": "a", "filters": {"tags": ["a"] * 257}}, "filters.tags"),
        ({"query": "a", "filters": {"modified_after": "soon"}}, "filters.modified_after"),
    ],
)
def test_impossible_request_names_its_field(
    client: TestClient, body: dict[str, object], field: str
) -> None:
    response = client.post("/search", json=body)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["errors"][0]["field"] == field


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/search?q=a&top_k=101", 422),
        ("GET", "/search?q=a&filter=path", 422),
        ("GET", "/search?q=a&q=b", 422),
        ("GET", "/search?q=a&top_k=1&top_k=2", 422),
        ("DELETE", "/search", 405),
        ("POST", "/healthz", 405),
    ],
)
def test_error_is_a_problem_document(
    client: TestClient, method: str, path: str, status: int
) -> None:
    response = client.request(method, path)
    problem = response.json()
    assert (response.status_code, problem["status"]) == (status, status)
    assert problem["detail"]
    assert response.headers["content-type"] == "application/problem+json"
    assert ("allow" in response.headers) == (status == 405)


def test_invalid_json_is_refused(client: TestClient) -> None:
    for body in ("", "{", "[]", '{"query": NaN}', "\ud800"):
        content = body.encode("utf-8", "surrogatepass")
        headers = {"Content-Type": "application/json"}
        assert client.post("/search", content=content, headers=headers).status_code in (400, 422)


def test_responses_have_security_headers(client: TestClient) -> None:
    for path in ("/healthz", "/search?q=a", "/nowhere"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"


def test_head_is_get_without_its_body(client: TestClient) -> None:
    response = client.head("/search?q=a")
    assert (response.status_code, response.content) == (200, b"")


def test_body_size_is_limited_with_and_without_content_length(client: TestClient) -> None:
    most = settings().max_body_bytes
    fitting = b'{"query": "a"' + b" " * (most - 14) + b"}"
    headers = {"Content-Type": "application/json"}
    assert client.post("/search", content=fitting, headers=headers).status_code == 200
    for content in (fitting + b" ", iter([fitting, b" "])):
        response = client.post("/search", content=content, headers=headers)
        assert (response.status_code, response.json()["status"]) == (413, 413)


def test_every_response_has_an_id(client: TestClient) -> None:
    ids = [
        client.get("/healthz", headers={"X-Request-ID": sent}).headers["x-request-id"]
        for sent in ("from-a-proxy.1", "two words", "two words")
    ]
    assert ids[0] == "from-a-proxy.1"
    assert len({*ids, "two words"}) == 4


def test_host_and_origin_must_be_this_server(
    monkeypatch: pytest.MonkeyPatch, new_client: Callable[[], TestClient]
) -> None:
    monkeypatch.setenv("ALLOWED_HOSTS", "docs.example")
    client = new_client()
    for path in ("/healthz", "/search?q=a"):
        for host, status in [("docs.example", 200), ("localhost", 200), ("evil.example", 421)]:
            assert client.get(path, headers={"Host": host}).status_code == status
        for origin, status in [(ADDRESS, 200), ("http://evil.example", 403), ("null", 403)]:
            answer = client.get(path, headers={"Origin": origin})
            assert answer.status_code == status
            assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("variable", "value"), [("API_TOKENS", "short"), ("ALLOWED_HOSTS", "http://docs.example")]
)
def test_impossible_environment_is_refused(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=variable) as refusal:
        create_app()
    assert refusal.value.hint


def test_authorise_hook_rejects_requests(
    monkeypatch: pytest.MonkeyPatch, new_client: Callable[[], TestClient]
) -> None:
    hooks = Hooks(authorise=lambda caller: caller.headers.get("x-team") == "mine")
    monkeypatch.setattr(app, "HOOKS", hooks)
    client = new_client()
    codes = [
        client.get("/search?q=a", headers={"X-Team": team}).status_code for team in ("mine", "")
    ]
    assert codes == [200, 403]
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize(("path", "route"), [("/search?q=a", "/search"), ("/nowhere", "none")])
def test_requests_are_counted(client: TestClient, path: str, route: str) -> None:
    def counted() -> float:
        lines = client.get("/metrics").text.splitlines()
        return sum(
            float(line.rpartition(" ")[2])
            for line in lines
            if line.startswith("http_requests_total{") and f'route="{route}"' in line
        )

    before = counted()
    client.get(path)
    assert counted() == before + 1


def test_requests_are_logged_without_their_query(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    client.get("/search", params={"q": "a-secret"})
    (line,) = [vars(record) for record in caplog.records if record.message == "request"]
    said = line["fields"]
    assert (said["method"], said["route"], said["status"]) == ("GET", "/search", 200)
    assert 0.01 < said["duration_ms"] < 60_000
    assert "a-secret" not in str(line)
