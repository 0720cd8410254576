"""Hidden documents never show: in content, ids, names, counts, errors or citations."""

import importlib
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import CONFIG, MakeProject
from fastapi.routing import iter_route_contexts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from servers import run_tests
from small_indexes import Note, client_of, rendered_server, write_notes
from starlette.testclient import TestClient

from foundry.config.search import IndexOptions

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

RULES: Mapping[str, Mapping[str, object]] = {
    "sales": {"tags": ["sales"]},
    "first": {"source": "s0"},
    "red": {"team": ["red"], "tags": ["sales"]},
    "recent": {"modified_after": "2024-01-01"},
    "everything": {},
}
TOKENS = {rule: f"{rule}-{'x' * 32}" for rule in RULES}
STRANGER = "stranger-" + "y" * 32
OPTIONS = IndexOptions(filterable=("team",))
TABLES = "\n".join(
    [
        '[search]\nfilterable = ["team"]',
        "[search.links]\n[search.recency]\n[search.document_cap]\n[search.near_duplicates]",
        "[search.heuristics]\n[search.anchors]\n[search.operators]",
        "[search.facets]",
        '[build]\nduplicates = "keep"',
        '[server]\naccess = true\naccess_default = "nothing"\nopenai = true\nfolders = true',
        "originals = true\nquestion_log = true",
        *(
            f'[[server.access_rules]]\nname = "{name}"\nfilters = {{ '
            + ", ".join(f"{key} = {json.dumps(value)}" for key, value in filters.items())
            + " }"
            for name, filters in RULES.items()
        ),
    ]
)


def digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


WORDS = st.sampled_from(["pump", "seal", "oil", "D40", "lamp", "valve"])
notes = st.builds(
    lambda words, tags, team, modified: (words, tags, team, modified),
    st.lists(WORDS, min_size=1, max_size=5),
    st.lists(st.sampled_from(["sales", "legal", "lab"]), max_size=2, unique=True),
    st.sampled_from(["red", "blue"]),
    st.sampled_from([None, "2023-05-01", "2024-05-01"]),
)
corpora = st.lists(notes, min_size=2, max_size=5)


def note(number: int, drawn: Any) -> Note:
    """Return a document whose title and passages can be recognised by its number."""
    words, tags, team, modified = drawn
    text = f"{' '.join(words)} mark{number}q PRIVATE-{number}."
    return Note(
        title=f"Title{number}q",
        passages=(text, f"More of mark{number}q: {words[0]}."),
        links=(number + 1, max(0, number - 1)),
        modified=modified,
        tags=tuple(tags),
        metadata={"team": team},
    )


def passes(number: int, drawn: Any, filters: Mapping[str, object]) -> bool:
    """Return whether a rule allows a document, without the server's code."""
    _, tags, team, modified = drawn
    return (
        ("tags" not in filters or "sales" in tags)
        and ("source" not in filters or number % 2 == 0)
        and ("team" not in filters or team == "red")
        and ("modified_after" not in filters or (modified or "") >= "2024-01-01")
    )


def traces(number: int) -> list[str]:
    """Return the strings of a hidden document that a response must not contain."""
    return [f"mark{number}q", f"Title{number}q", f'"d{number}"', f"notes/{number}", f"/d/d{number}"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    root = tmp_path_factory.mktemp("rights")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("API_TOKENS", ",".join([STRANGER, *TOKENS.values()]))
        patch.setenv("ACCESS_TOKENS", ", ".join(f"{r}={digest(t)}" for r, t in TOKENS.items()))
        with rendered_server(root, "rights_of_notes", TABLES) as package:
            yield package


class Door:
    """Sends requests with one token."""

    def __init__(self, client: TestClient, token: str | None) -> None:
        self._client = client
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def text(self, method: str, path: str, **options: Any) -> str:
        headers = {**self._headers, **options.pop("headers", {})}
        response = self._client.request(method, path, headers=headers, **options)
        assert response.status_code < 500 or response.status_code == 503, response.text
        return f"{response.status_code} {json.dumps(dict(response.headers))} {response.text}"

    def json(self, method: str, path: str, **options: Any) -> Any:
        headers = {**self._headers, **options.pop("headers", {})}
        return self._client.request(method, path, headers=headers, **options).json()

    def call(self, name: str, arguments: Mapping[str, object]) -> Any:
        params = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        accepted = {"Accept": "application/json, text/event-stream"}
        return self.text("POST", "/mcp", json=message, headers=accepted)


def ids_of(count: int) -> list[str]:
    chunks = [
        f"c{(n * 7919 + place * 104_729) % 1_000_003:07d}" for n in range(count) for place in (0, 1)
    ]
    return [*(f"d{n}" for n in range(count)), *chunks, "absent"]


OF_ONE = {
    "/chunks/{chunk_id}",
    "/d/{document_id}",
    "/documents/{document_id}",
    "/originals/{document_id}",
    "/v1/models/{name}",
}
"""Routes of one document or chunk, called for each one; add new routes here."""


def requests_to(path: str, method: str, ids: Sequence[str], query: str) -> list[dict[str, Any]]:
    """Return requests for a route of the specification; a new route must be added here."""
    questions = [query, "D40", "PRIVATE-1", "mark0q", "mark1q mark2q"]
    filters = [{"tags": "legal"}, {"team": "blue"}, {"source": "s1"}, {"path": "notes/1"}]
    chats = [{"messages": [{"role": "user", "content": question}]} for question in questions]
    if path in OF_ONE:
        return [{"path": re.sub(r"\{[^}]*\}", one, path)} for one in ids]
    known: dict[str, list[dict[str, Any]]] = {
        "POST /search": [
            {"json": {"query": question, "filters": chosen, "mode": mode, "facets": True}}
            for mode in ("hybrid", "keyword", "semantic")
            for question, chosen in [
                *((each, None) for each in questions),
                *zip(questions, filters, strict=False),
            ]
        ],
        "GET /search": [{"params": {"q": f'{question} -lamp "seal"'}} for question in questions],
        "GET /thumbs": [{}],
        "POST /thumbs": [{"json": {"query": query, "id": one, "thumb": "up"}} for one in ids],
        "GET /documents": [{}, {"params": {"offset": 1, "limit": 2}}],
        "GET /folders": [{}, {"params": {"path": "notes/"}}],
        "GET /sources": [{}],
        "GET /originals": [{}],
        "GET /pictures": [{"params": {"chunk": one, "target": "a.png"}} for one in ids],
        "GET /chunks": [
            {"params": {"document": document, "around": chunk}}
            for document in ids[:4]
            for chunk in ids[-4:]
        ],
        "POST /chat": [{"json": chat} for chat in chats],
        "POST /v1/chat/completions": [{"json": {**chat, "model": "m"}} for chat in chats],
        "POST /v1/embeddings": [
            {"json": {"model": "m", "input": questions}},
            {"json": {"model": "m", "input": query, "dimensions": 7}},
        ],
        "GET /v1/models": [{}],
        "GET /healthz": [{}],
        "GET /readyz": [{}],
        "GET /metrics": [{}],
        "GET /llms.txt": [{}],
        "GET /about": [{}],
        "GET /openapi.json": [{}],
        "GET /docs": [{}],
        "GET /chat": [{}],
        "GET /browse": [{}],
        "GET /": [{}],
        "POST /mcp": [],
        "POST /mcp/": [],
    }
    return known[f"{method} {path}"]


def routes_of(app: Any) -> list[tuple[str, str]]:
    """Return every route, whether it is in the specification or not."""
    found = set()
    # Included routers are not flattened into `app.routes`.
    for route in iter_route_contexts(app.router.routes):
        for method in route.methods or ():
            if method != "HEAD":
                found.add((route.path.replace(":path", ""), method))
    listed = {
        (path, method.upper()) for path, item in app.openapi()["paths"].items() for method in item
    }
    assert listed <= found
    return sorted(found)


TOOLS = {
    "search": lambda _ids, query: [
        {"query": query},
        {"query": "mark0q", "filters": {"source": "s1"}},
    ],
    "fetch": lambda ids, _query: [{"id": one} for one in ids],
    "list_sources": lambda _ids, _query: [{}],
}
"""The arguments for each tool; add new tools here."""


def everything(door: Door, app: Any, ids: Sequence[str], query: str) -> Iterator[tuple[str, str]]:
    """Make every kind of request; yields the request and the whole response."""
    for path, method in routes_of(app):
        for options in requests_to(path, method, ids, query):
            target = options.pop("path", path)
            yield f"{method} {target} {options}", door.text(method, target, **options)
    accepted = {"Accept": "application/json, text/event-stream"}
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    listed = door.text("POST", "/mcp", json=listing, headers=accepted)
    yield "tools/list", listed
    names = json.loads(listed.partition("{")[0] and listed[listed.index('{"jsonrpc"') :])
    for tool in names["result"]["tools"]:
        for arguments in TOOLS[tool["name"]](ids, query):
            yield f"{tool['name']} {arguments}", door.call(tool["name"], arguments)


@settings(
    max_examples=3,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(corpus=corpora, query=WORDS, rule=st.sampled_from([*RULES, None]))
def test_no_route_shows_anything_outside_a_rule(
    server: ModuleType,
    tmp_path_factory: pytest.TempPathFactory,
    corpus: list[Any],
    query: str,
    rule: str | None,
) -> None:
    folder = tmp_path_factory.mktemp("index") / "v"
    server.load(
        write_notes(folder, [note(n, one) for n, one in enumerate(corpus)], options=OPTIONS)
    )
    app = importlib.import_module(f"{server.__name__}.app").create_app()
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        # A caller with full access asks first: nothing that is cached for this caller may reach
        # others.
        ids = ids_of(len(corpus))
        assert "mark0q" in "".join(
            text for _, text in everything(Door(client, TOKENS["everything"]), app, ids, query)
        )

        door = Door(client, TOKENS[rule] if rule else STRANGER)
        seen = [n for n, one in enumerate(corpus) if rule and passes(n, one, RULES[rule])]
        hidden = set(range(len(corpus))).difference(seen)
        names = {f"s{n % 2}" for n in hidden} - {f"s{n % 2}" for n in seen}
        names |= {tag for n in hidden for tag in corpus[n][1]} - {
            tag for n in seen for tag in corpus[n][1]
        }
        for asked, response in everything(door, app, ids, query):
            for name in names:
                assert name in asked or not re.search(
                    rf'"{name}\\?"', response
                ), f"{asked}: {response}"
            # Some responses repeat their input, such as a query or a missing path.
            for number in hidden:
                for trace in traces(number):
                    repeated = trace in asked
                    assert repeated or trace not in response, f"{asked} told {trace}: {response}"

        listed = door.json("GET", "/documents")
        assert listed["total"] == len(seen)
        assert [each["id"] for each in listed["documents"]] == [f"d{number}" for number in seen]
        about = door.json("GET", "/about")
        assert (about["documents"], about["chunks"]) == (len(seen), 2 * len(seen))
        assert about["examples"] == []
        tags = {tag for n in seen for tag in corpus[n][1]}
        assert about["tags"] == sorted(tags)
        assert {name for n in seen for name in [f"s{n % 2}"]} == set(about["sources"])
        counted = {
            each["name"]: each["documents"] for each in door.json("GET", "/sources")["sources"]
        }
        assert counted == {f"s{k}": n for k in (0, 1) if (n := sum(i % 2 == k for i in seen))}
        found = door.json("POST", "/search", json={"query": query, "top_k": 100})["results"]
        wanted = {f"d{n}" for n in seen if query in corpus[n][0]}
        assert wanted <= {hit["document_id"] for hit in found}


def test_absent_and_hidden_documents_are_indistinguishable(
    server: ModuleType, tmp_path: Path
) -> None:
    drawn: list[Any] = [(["pump"], ["legal"], "blue", None), (["seal"], ["sales"], "red", None)]
    server.load(
        write_notes(tmp_path / "v", [note(n, one) for n, one in enumerate(drawn)], options=OPTIONS)
    )
    door = Door(client_of(server), TOKENS["sales"])

    def told(method: str, path: str, hidden: str, absent: str, **options: Any) -> None:
        texts = []
        for one in (hidden, absent):
            written = json.loads(json.dumps(options).replace("WHAT", one))
            body = door.text(method, path.replace("WHAT", one), **written)
            body = re.sub(r'"(x-request-id|content-length|took_ms)": ?"?[\w.]+"?', "", body)
            texts.append(re.sub(r'"took_ms":[\d.]+', "", body).replace(one, "WHAT"))
        assert texts[0] == texts[1]

    told("GET", "/documents/WHAT", "d0", "d7")
    told("GET", "/d/WHAT", "d0", "d7")
    told("GET", "/chunks/WHAT", "c0000000", "c0000001")
    thumb = {"query": "seal", "id": "WHAT", "thumb": "up"}
    told("POST", "/thumbs", "c0000000", "c0000001", json=thumb)
    told("GET", "/search", "mark0q", "mark7q", params={"q": "WHAT seal", "mode": "keyword"})
    told("GET", "/search", "PRIVATE-0", "PRIVATE-7", params={"q": "WHAT", "mode": "keyword"})
    told("POST", "/search", "s0", "s7", json={"query": "seal", "filters": {"source": "WHAT"}})
    told("POST", "/search", "legal", "lega1", json={"query": "seal", "filters": {"tags": "WHAT"}})
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    params = {"name": "fetch", "arguments": {"id": "WHAT"}}
    accepted = {"Accept": "application/json, text/event-stream"}
    told("POST", "/mcp", "d0", "d7", json={**message, "params": params}, headers=accepted)


def test_rules_apply_to_a_reloaded_index(server: ModuleType, tmp_path: Path) -> None:
    door = Door(client_of(server), TOKENS["sales"])
    for number, tags in enumerate([["sales"], ["legal"], ["sales"]]):
        drawn: list[Any] = [(["pump"], tags, "blue", None)]
        index = [note(n, one) for n, one in enumerate(drawn)]
        server.load(write_notes(tmp_path / str(number), index, options=OPTIONS))
        assert door.json("GET", "/documents")["total"] == tags.count("sales")


def test_concurrent_requests_keep_their_own_rules(server: ModuleType, tmp_path: Path) -> None:
    drawn: list[Any] = [(["pump"], ["legal"], "blue", None), (["pump"], ["sales"], "red", None)]
    server.load(
        write_notes(tmp_path / "v", [note(n, one) for n, one in enumerate(drawn)], options=OPTIONS)
    )
    app = importlib.import_module(f"{server.__name__}.app").create_app()
    wrong: list[str] = []

    def ask(rule: str, count: int) -> None:
        with TestClient(app, base_url="http://127.0.0.1:8000") as client:
            door = Door(client, TOKENS[rule])
            for _ in range(30):
                if door.json("GET", "/documents")["total"] != count:
                    wrong.append(rule)
                if ("mark0q" in door.text("GET", "/search?q=pump")) is (count == 1):
                    wrong.append(rule)

    threads = [
        threading.Thread(target=ask, args=each) for each in (("sales", 1), ("everything", 2))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_token_hashes_from_a_file_and_invalid_tokens(
    server: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rights = importlib.import_module(f"{server.__name__}.web.rights")
    errors = importlib.import_module(f"{server.__name__}.errors")
    monkeypatch.delenv("ACCESS_TOKENS")
    file = tmp_path / "tokens"
    file.write_text(f"# of the sales team\n\n sales = {digest('some token').upper()}\n")
    monkeypatch.setenv("ACCESS_FILE", str(file))
    assert rights.Rights.read().tokens == {bytes.fromhex(digest("some token")): "sales"}
    for line, said in {
        f"buyers={digest('x')}": "line 1: unknown rule 'buyers'",
        "sales=some token": "line 1: an entry is not rule=sha256",
        digest("x"): "line 1: an entry is not rule=sha256",
    }.items():
        file.write_text(line)
        with pytest.raises(errors.ConfigurationError, match=said) as info:
            rights.Rights.read()
        assert "some token" not in f"{info.value.message}{info.value.hint}"
    monkeypatch.setenv("ACCESS_FILE", str(tmp_path / "absent"))
    with pytest.raises(errors.ConfigurationError, match=r"ACCESS_FILE: .*absent"):
        rights.Rights.read()
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setenv("ACCESS_FILE", str(tmp_path / "pipe"))
    with pytest.raises(errors.ConfigurationError, match="is a named pipe, not a file"):
        rights.Rights.read()
    monkeypatch.delenv("ACCESS_FILE")
    monkeypatch.setenv("ACCESS_TOKENS", f"sales={digest('x')}, no={digest('y')}")
    with pytest.raises(errors.ConfigurationError, match="ACCESS_TOKENS: unknown rule 'no'"):
        rights.Rights.read()


@pytest.mark.parametrize(
    ("default", "statistics"),
    [("nothing", "visible"), pytest.param("all", "all", marks=pytest.mark.slow)],
)
def test_an_export_with_rights_passes_its_own_tests(
    make_project: MakeProject, default: str, statistics: str
) -> None:
    """Runs the tests of rights, and some tests that have full access."""
    rules = (
        f'[server]\naccess = true\naccess_default = "{default}"\n'
        f'access_statistics = "{statistics}"\n'
        'access_rules = [{ name = "a", filters = { path = "a" } }]\n'
    )
    files = {"a.md": "# Apples\n\nRed.\n", "b.md": "# Bananas\n\nYellow.\n"}
    keep = '[build]\nduplicates = "keep"\nboilerplate = "keep"\n'
    project = make_project(files, config=f"{CONFIG}\n{keep}{rules}")
    project.succeed("build", "--quiet")
    export = project.export()
    assert "ACCESS_TOKENS" in (export / "README.md").read_text()
    assert "ACCESS_TOKENS" in (export / ".env.example").read_text()
    run_tests(export, "test_[acpr]*.py")
    # The owner's own commands see everything.
    assert project.ask("bananas")["results"][0]["path"] == "b.md"


def test_search_box_finds_only_what_its_token_may_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKENS", ",".join(TOKENS.values()))
    monkeypatch.setenv("ACCESS_TOKENS", ",".join(f"{r}={digest(t)}" for r, t in TOKENS.items()))
    monkeypatch.setenv("SEARCH_BOX_TOKEN", TOKENS["sales"])
    site = "https://docs.example"
    chosen = f'[server]\nsearch_box = true\nallowed_origins = ["{site}"]\n'
    corpus = [(["pump"], [tag], "red", None) for tag in ("sales", "legal", "sales", "lab")]
    notes_of = [note(number, drawn) for number, drawn in enumerate(corpus)]
    options = TABLES.replace("[server]\n", chosen)
    with rendered_server(tmp_path, "rights_of_a_box", options) as package:
        package.load(write_notes(tmp_path / "index" / "v", notes_of, options=OPTIONS))
        with client_of(package) as client:

            def found(headers: Mapping[str, str]) -> set[str]:
                answer = client.get("/search?q=pump", headers=headers)
                assert answer.status_code == 200
                return {hit["document_id"] for hit in answer.json()["results"]}

            of_site = {"Origin": site}
            assert found(of_site) == {"d0", "d2"}
            own = {"Authorization": f"Bearer {TOKENS['everything']}"}
            assert found({**of_site, **own}) == found(own) == {"d0", "d1", "d2", "d3"}
            refused = {"/documents": 403, "/d/d0.md": 403, "/chunks?document=d0": 403}
            for path, status in refused.items():
                assert client.get(path, headers=of_site).status_code == status
            assert client.get("/search?q=pump").status_code == 401
