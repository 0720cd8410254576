"""Hidden documents affect a token's results only in the ways that docs/security.md lists.

All requests go to the same server twice: with an index of all documents, and with an index of only
those that the token may see. The responses must be the same byte for byte, and so must the work
that each search has spent of its budget, because the cost of a query must not reveal how much is
hidden.
"""

import importlib
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from fastapi.routing import iter_route_contexts
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from small_indexes import Note, make_document, rendered_server, write_documents
from starlette.testclient import TestClient

from foundry.cli.main import main
from foundry.config.search import IndexOptions
from foundry.features.stages.results import PinnedAnswer

DOCS = Path(__file__).parents[1] / "docs" / "security.md"
MODES = ("hybrid", "keyword", "semantic")
TOKEN = "open-" + "x" * 32
TABLES = """
[search]
filterable = ["team"]
[search.operators]
phrase_chunks = 2
[search.adaptive_weights]
[search.links]
[search.recency]
[search.anchors]
[search.heuristics]
[search.word_parts]
[search.near_duplicates]
[search.document_cap]
[search.facets]
[search.pinned]
answers = [{ query = "rubber", document = "open/valve.md" }]
[chunking]
strategy = "parent"
max_chars = 200
[build]
duplicates = "keep"
boilerplate = "keep"
[server]
openai = true
folders = true
originals = true
question_log = true
chat_requests_per_minute = 0
access = true
access_rules = [{ name = "open", filters = { tags = "shop" } }]
"""


def page(title: str, text: str, *, tag: str = "shop", date: str = "2024-02-01") -> str:
    return f"---\ntags: [{tag}]\nteam: {tag}\nmodified: {date}\n---\n# {title}\n\n{text}\n"


OPEN = {
    "pump.md": page(
        "Pump",
        "Oil the pump and its seal every week. See [the seal](seal.md).\n\n## D40\n\nFits."
        " Nobody sees [the deal](../closed/deal.md).",
    ),
    "seal.md": page("Seal", "The seal of a pump is of rubber. A worn seal leaks oil."),
    "valve.md": page("Valve", "Set max_size of the valve. See [the pump](pump.md) and its page."),
    "copy.md": page("Copy of the seal", "The seal of a pump is of rubber. A worn seal leaks oil."),
    "page.md": page("A page", "This page, page after page, names no w1, and no w2 either."),
}
"""The documents that the token sees."""

CLOSED = {
    "deal.md": page(
        "Deal", "quuxcorp acquires the page for 42 million: w1 w2.", tag="board", date="2026-01-01"
    ),
    # The file has a copy, the same heading, links in both directions, and words that would be rare
    # without it.
    "pump.md": page(
        "Pump", "Oil the pump and its seal every week. See [it](../open/pump.md).", tag="board"
    ),
    "copy.md": page("Seal", "The seal of a pump is of rubber. A worn seal leaks oil.", tag="board"),
    **{
        f"minutes-{number}.md": page(
            f"Minutes {number}",
            f"The board met about the valve, max_size, D{number + 40} and rubber. "
            * (number % 7 + 1)
            + "See [the valve](../open/valve.md) and [the pump](../open/pump.md).",
            tag="board",
        )
        for number in range(60)
    },
}
"""The documents that the token does not see."""

QUERIES = (
    *("oil the pump", "seal", "rubber", "D40", "D41", "max_size", "what does quuxcorp acquire?"),
    *("Pump", "minutes of the board", 'page -"w1 w2"', 'page -"quuxcorp acquires"', "seal -rubber"),
    *('"the pump" oil', "pump +seal", "pump team:board", "pump tag:shop", "valve of the pump"),
    "--oil",
)


def asked(**more: Any) -> list[tuple[str, str, Any]]:
    return [("POST", "/search", {"query": query, **more}) for query in QUERIES]


def chats(path: str, **more: Any) -> list[tuple[str, str, Any]]:
    return [
        ("POST", path, {**more, "messages": [{"role": "user", "content": query}]})
        for query in QUERIES
    ]


def calls(method: str, *params: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    message = {"jsonrpc": "2.0", "id": 1, "method": method}
    return [("POST", "/mcp", {**message, "params": each}) for each in params]


def gets(*paths: str) -> list[tuple[str, str, Any]]:
    return [("GET", path, None) for path in paths]


DOCUMENTS, CHUNKS = (
    tuple(f"<{kind} of {path}>" for path in ("open/pump.md", "open/seal.md", "closed/deal.md", ""))
    for kind in ("document", "chunk")
)
"""Placeholders for ids: two visible to the token, one hidden, and one that does not exist."""

INTERFACES: Mapping[str, list[tuple[str, str, Any]]] = {
    "`POST /search`": asked(),
    "`POST /search`, by keywords": asked(mode="keyword"),
    "`POST /search`, by meaning": asked(mode="semantic"),
    "`POST /search`, filtered": [
        *asked(filters={"team": "board"}),
        *asked(filters={"tags": "shop"}, top_k=2),
        *asked(filters={"modified_after": "2025-01-01"}),
    ],
    "`POST /search`, with facets": [
        *asked(facets=True),
        *asked(facets=True, mode="keyword", filters={"team": "shop"}),
    ],
    "`POST /search`, by date": asked(sort="date"),
    "`/thumbs`": [
        *gets("/thumbs"),
        *(
            ("POST", "/thumbs", {"query": "seal", "id": each, "thumb": "up"})
            for each in (*CHUNKS, *DOCUMENTS)
        ),
    ],
    "`GET /search`": [("GET", "/search", {"q": query, "top_k": 3}) for query in QUERIES],
    "refused requests": [
        *asked(filters={"source": "vault"}),
        *asked(filters={"colour": "red"}),
        *gets("/search", "/nowhere", "/documents?limit=0", "/chunks?document=absent&around=1"),
    ],
    "`/chat`": chats("/chat"),
    "`/v1/chat/completions`": chats("/v1/chat/completions", model="notes"),
    "`/v1/embeddings`": [
        ("POST", "/v1/embeddings", {"model": "notes", "input": query}) for query in QUERIES
    ],
    "`/v1/models`": gets("/v1/models", "/v1/models/notes", "/v1/models/gpt"),
    "MCP, `search`": calls(
        "tools/call", *({"name": "search", "arguments": {"query": each}} for each in QUERIES)
    ),
    "MCP, `fetch`": calls(
        "tools/call",
        *({"name": "fetch", "arguments": {"id": each}} for each in (*DOCUMENTS, *CHUNKS)),
    ),
    "MCP, `list_sources`": calls("tools/call", {"name": "list_sources", "arguments": {}}),
    "MCP, `tools/list`": calls("tools/list", {}),
    "`/documents`": gets("/documents", "/documents?offset=1&limit=2"),
    "`/documents/{id}`": gets(*(f"/documents/{each}" for each in DOCUMENTS)),
    "`/chunks/{id}`": gets(*(f"/chunks/{each}" for each in CHUNKS)),
    "`/chunks`": gets(*(f"/chunks?document={each}" for each in DOCUMENTS)),
    "`/folders`": gets("/folders", "/folders?path=open/&limit=2", "/folders?path=closed/"),
    "`/originals`": gets("/originals"),
    "`/pictures`": gets(*(f"/pictures?chunk={each}&target=a.png" for each in CHUNKS)),
    "`/originals/{id}`": gets(*(f"/originals/{each}" for each in DOCUMENTS)),
    "`/sources`": gets("/sources"),
    "`/about`": gets("/about"),
    "`/d/{id}`": gets(*(f"/d/{each}" for each in DOCUMENTS)),
    "`/llms.txt`": gets("/llms.txt"),
    "`/openapi.json`": gets("/openapi.json"),
    "pages": gets("/", "/docs", "/chat", "/browse"),
    "`/healthz`": gets("/healthz"),
    "`/readyz`": gets("/readyz"),
    "`/metrics`": gets("/metrics"),
}
"""The requests to each interface; add those of a new interface here."""

OF_EACH_ANSWER = re.compile(
    r'"(?:took_ms|created)\\*":\s?[\d.]+|"(?:x-request-id|content-length)": "\w+"|chatcmpl-\w+'
)
"""Parts of a response that differ each time."""


def identifiers(index: Path) -> dict[str, str]:
    """Return the ids that DOCUMENTS and CHUNKS stand for, in an index of all documents."""
    found = {f"<{kind} of >": "0" * 16 for kind in ("document", "chunk")}
    (records,) = index.glob("v*/documents.jsonl")
    chunks = records.with_name("chunks.jsonl").read_text().splitlines()
    paths = {}
    for line in records.read_text().splitlines():
        document = json.loads(line)
        paths[document["id"]] = document["path"]
        found[f"<document of {document['path']}>"] = document["id"]
    for chunk in map(json.loads, reversed(chunks)):
        found[f"<chunk of {paths[chunk['document_id']]}>"] = chunk["id"]
    return found


def put_in(ids: Mapping[str, str], request: tuple[str, str, Any]) -> tuple[str, str, Any]:
    """Replace placeholders in a request by ids."""
    text = re.sub("<(?:document|chunk) of [^>]*>", lambda place: ids[place[0]], json.dumps(request))
    method, path, sent = json.loads(text)
    return method, path, sent


class Answer(NamedTuple):
    """A response, and the budget spent by each of its searches: units by stage, and units left."""

    text: str
    spent: list[list[tuple[str, int]]]


@contextmanager
def answering(package: ModuleType, index: Path) -> Iterator[Callable[[Any], Answer]]:
    """Return a function that queries a server with this index, and also reports the work."""
    journals: list[Any] = []
    spent: dict[int, list[tuple[str, int]]] = {}
    journal = importlib.import_module(f"{package.__name__}.retrieval.journal").Journal
    begin, spend = journal.begin, journal.spend

    def begin_noting(*asked: Any) -> Any:
        journals.append(begin(*asked))
        return journals[-1]

    def spend_noting(self: Any, stage: str, units: int) -> bool:
        spent.setdefault(id(self), []).append((stage, units))
        return bool(spend(self, stage, units))

    def ask(request: tuple[str, str, Any]) -> Answer:
        journals.clear()
        spent.clear()
        text = answer(client, *request)
        return Answer(text, [[*spent.get(id(one), ()), ("left", one.units)] for one in journals])

    package.load(index)
    app = importlib.import_module(f"{package.__name__}.app").create_app()
    with (
        pytest.MonkeyPatch.context() as patch,
        TestClient(app, base_url="http://127.0.0.1:8000") as client,
    ):
        patch.setattr(journal, "begin", begin_noting)
        patch.setattr(journal, "spend", spend_noting)
        yield ask


def answer(client: TestClient, method: str, path: str, sent: Any) -> str:
    """Return status, headers and body of a response, without its date and request id."""
    accepted = {"Accept": "application/json, text/event-stream"} if path == "/mcp" else {}
    how = {"json": sent} if method == "POST" else {"params": sent} if sent else {}
    headers = {"Authorization": f"Bearer {TOKEN}", **accepted}
    response = client.request(method, path, headers=headers, **how)
    told = "".join(f'"{name}": "{value}"\n' for name, value in response.headers.items())
    return OF_EACH_ANSWER.sub("", f"{response.status_code}\n{told}\n{response.text}")


def build(root: Path, name: str, **folders: Mapping[str, str]) -> Path:
    """Build an index of these folders; returns a copy of it."""
    shutil.rmtree(root / "sources")
    for folder, files in folders.items():
        (root / "sources" / folder).mkdir(parents=True)
        for file, text in files.items():
            (root / "sources" / folder / file).write_text(text)
    result = CliRunner().invoke(main, ["build", str(root), "--quiet"])
    assert result.exit_code == 0, result.output
    return shutil.copytree(root / ".foundry" / "index", root / name)


@pytest.fixture(scope="module", params=[pytest.param("all", marks=pytest.mark.slow), "visible"])
def statistics(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def server(
    statistics: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ModuleType, Path, Path]]:
    """A server, and its indexes with and without the hidden documents."""
    root = tmp_path_factory.mktemp(statistics)
    tables = f'{TABLES}access_statistics = "{statistics}"\n'
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("API_TOKENS", TOKEN)
        patch.setenv("ACCESS_TOKENS", f"open={sha256(TOKEN.encode()).hexdigest()}")
        patch.setenv("REFERENCE_DATE", "2026-02-01")
        with rendered_server(root, f"by_{statistics}", tables) as package:
            whole = build(root, "whole", open=OPEN, closed=CLOSED)
            patch.setenv("ORIGINALS", str(shutil.copytree(root / "sources", root / "originals")))
            yield package, whole, build(root, "part", open=OPEN)


Answers = Mapping[str, list[Answer]]


def ask_everything(package: ModuleType, whole: Path, part: Path) -> tuple[Answers, Answers]:
    """Return the server's responses through each interface with either index."""
    ids = identifiers(whole)
    found: list[Answers] = []
    for index in (whole, part):
        with answering(package, index) as ask:
            found.append(
                {
                    name: [ask(put_in(ids, request)) for request in requests]
                    for name, requests in INTERFACES.items()
                }
            )
    return found[0], found[1]


@pytest.fixture(scope="module")
def answers(server: tuple[ModuleType, Path, Path]) -> tuple[Answers, Answers]:
    return ask_everything(*server)


def crowd(number: int) -> Note:
    """Return one of many similar hidden documents, with four tags, a link and values of its own."""
    words = f"The board met about the pump, its page, max_size, w1 w2, rubber and D{number}."
    return Note(
        "Pump" if number % 5 else f"Minutes {number}",
        (words,),
        links=(0,),
        modified=f"20{10 + number % 15}-05-01",
        tags=("board", *(f"t{number % 997}-{n}" for n in range(3))),
        metadata={"team": f"team {number}"},
        media_type=f"text/x-{number % 300}",
    )


SEEN = [
    Note(
        "Pump",
        (
            "Oil the pump and its seal every week.",
            "D40 fits, and a page of w1.",
            *(f"On day {number}, oil part {number} of the pump." for number in range(4)),
        ),
        links=(1, 5),
        tags=("shop",),
        metadata={"team": "shop"},
    ),
    Note(
        "Seal",
        ("The seal of a pump is of rubber, and max_size is set on this page.",),
        links=(0,),
        modified="2024-02-01",
        tags=("shop", "old"),
        metadata={"team": "shop"},
    ),
]
"""The documents that the token sees among a thousand times as many."""


@pytest.fixture(
    scope="module",
    params=[1_000 * len(SEEN)],
    ids=lambda count: f"{count} hidden",
)
def crowded(
    request: pytest.FixtureRequest,
    server: tuple[ModuleType, Path, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Answers, Answers]:
    """The responses with two visible documents among many, and with these two alone."""
    folder = tmp_path_factory.mktemp("crowded")
    placed = [
        *zip(SEEN, ("open/pump.md", "open/seal.md"), strict=True),
        *((crowd(number), f"closed/{number}/deal.md") for number in range(request.param - 1)),
        (crowd(request.param), "closed/deal.md"),
    ]
    documents = []
    for number, (note, path) in enumerate(placed):
        document, chunks = make_document(number, note)
        documents.append((replace(document, source="s0", path=path), chunks))
    pinned = (PinnedAnswer(query="rubber", document=documents[0][0].id),)
    options = IndexOptions(filterable=("team",), own_statistics=True, pinned=pinned)
    for name, some in (("whole", documents), ("part", documents[: len(SEEN)])):
        write_documents(folder / name / "v1", some, options=options)
        (folder / name / "CURRENT").write_text("v1\n")
    return ask_everything(server[0], folder / "whole", folder / "part")


def documented(statistics: str) -> dict[str, str]:
    """Return the statements of docs/security.md about each interface."""
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", DOCS.read_text("utf-8"), re.M)
    place = {"all": 1, "visible": 2}[statistics]
    return {row[0].strip(): row[place].strip() for row in rows}


@pytest.mark.parametrize("interface", INTERFACES)
def test_hidden_documents_affect_only_what_is_documented(
    interface: str, statistics: str, answers: tuple[Answers, Answers]
) -> None:
    whole, part = (each[interface] for each in answers)
    said = documented(statistics)[interface]
    if said == "same":
        assert whole == part
    else:
        texts = ([one.text for one in each] for each in (whole, part))
        assert (
            len({*map(tuple, texts)}) == 2
        ), f"{interface} is the same, and said to differ: {said}"
        assert statistics == "all"


@pytest.mark.parametrize("statistics", ["visible"], indirect=True)
@pytest.mark.parametrize("interface", INTERFACES)
def test_a_crowd_of_hidden_documents_changes_nothing(
    interface: str, crowded: tuple[Answers, Answers]
) -> None:
    whole, part = (each[interface] for each in crowded)
    for with_hidden, without in zip(whole, part, strict=True):
        assert with_hidden == without


SPENDING = {
    *("anchors", "document_cap", "facets", "operators", "unknown_identifiers", "word_parts"),
}


@pytest.mark.parametrize("statistics", ["visible"], indirect=True)
def test_every_stage_with_a_budget_spends_some(crowded: tuple[Answers, Answers]) -> None:
    """Otherwise equal costs would prove nothing."""
    for answers in crowded:
        work = (each.spent for given in answers.values() for each in given)
        assert {stage for searches in work for search in searches for stage, _ in search} > SPENDING


def test_every_interface_is_in_the_table(statistics: str) -> None:
    assert INTERFACES.keys() <= documented(statistics).keys()


def test_every_route_is_requested(server: tuple[ModuleType, Path, Path]) -> None:
    app = importlib.import_module(f"{server[0].__name__}.app").create_app()
    known = {
        (method, path.partition("?")[0])
        for requests in INTERFACES.values()
        for method, path, _ in requests
    }
    known.add(("POST", "/mcp/"))  # The same route with a slash.
    for route in iter_route_contexts(app.router.routes):
        pattern = re.compile(re.sub(r"\{[^}]*\}", ".+", str(route.path)) or "/")
        for method in (route.methods or set()) - {"HEAD"}:
            assert any(one == method and pattern.fullmatch(path) for one, path in known), route.path


def results_of(text: str) -> list[dict[str, Any]]:
    body = text[text.index("{") :].replace(",,", ",")
    found: list[dict[str, Any]] = json.loads(body)["results"]
    return found


def test_the_token_finds_and_reads_its_documents(answers: tuple[Answers, Answers]) -> None:
    whole, _ = answers
    found = [results_of(each.text) for each in whole["`POST /search`"]]
    assert {hit["path"] for hits in found for hit in hits} == {f"open/{name}" for name in OPEN}
    for name in ("`/documents/{id}`", "`/chunks/{id}`", "`/chunks`", "`/d/{id}`"):
        assert [each.text[:3] for each in whole[name]] == ["200", "200", "404", "404"], name
    assert "Oil the pump" in whole["MCP, `fetch`"][0].text
    told = "".join(each.text for each in whole["`POST /search`"])
    assert '"links"' in told and '"near_duplicates"' in told


def test_hidden_documents_affect_neither_results_nor_operators(
    answers: tuple[Answers, Answers],
) -> None:
    """Scores depend only on what is found and on what operators do."""
    texts = ([one.text for one in each["`POST /search`"]] for each in answers)
    for with_hidden, without in zip(*texts, strict=True):
        ids = [
            {
                one
                for hit in results_of(text)
                for one in (hit["id"], *hit.get("near_duplicates", ()))
            }
            for text in (with_hidden, without)
        ]
        assert ids[0] == ids[1]
        said = [re.findall(r'"operators":\{.*?\}', text) for text in (with_hidden, without)]
        assert said[0] == said[1]


WORDS = ("pump", "seal", "oil", "D40", "max_size", "lamp", "quuxcorp")
notes = st.builds(
    Note,
    title=st.sampled_from(["Pump", "Seal", "Oil lamp", "D40: a lamp", "Notes"]),
    passages=st.lists(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join),
        min_size=1,
        max_size=3,
    ).map(tuple),
    links=st.lists(st.integers(0, 8), max_size=3).map(tuple),
    modified=st.sampled_from([None, "2023-05-01", "2026-01-30"]),
    tags=st.sampled_from([("shop",), ("board",), ("board", "shop"), ()]),
    metadata=st.sampled_from([{"team": "red"}, {"team": "blue"}]),
)


@settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    corpus=st.lists(notes, min_size=2, max_size=9),
    queries=st.lists(
        st.lists(
            st.sampled_from([*WORDS, "-lamp", '"seal oil"', '-"pump seal"', "+oil", "team:red"]),
            min_size=1,
            max_size=4,
        ).map(" ".join),
        min_size=2,
        max_size=2,
    ),
)
@pytest.mark.parametrize("statistics", ["visible"], indirect=True)
def test_random_hidden_documents_change_nothing(
    server: tuple[ModuleType, Path, Path],
    tmp_path_factory: pytest.TempPathFactory,
    corpus: list[Note],
    queries: list[str],
) -> None:
    package, *_ = server
    folder = tmp_path_factory.mktemp("drawn")
    documents = [make_document(number, note) for number, note in enumerate(corpus)]
    kept = [each for each in documents if "shop" in each[0].tags]
    assume(kept)
    # Without one of these files, the server would refuse all searches alike.
    pinned = (PinnedAnswer(query="oil", document=kept[0][0].id),)
    options = IndexOptions(filterable=("team",), own_statistics=True, pinned=pinned)
    requests = [
        *(
            ("POST", "/search", {"query": each, "mode": mode, "facets": True})
            for each in queries
            for mode in MODES
        ),
        *(("POST", "/chat", {"messages": [{"role": "user", "content": each}]}) for each in queries),
        *gets(
            "/documents",
            "/folders",
            "/sources",
            "/about",
            "/llms.txt",
            "/readyz",
            "/openapi.json",
        ),
        *gets(*(f"/documents/d{number}" for number in range(len(corpus)))),
        *calls("tools/call", {"name": "search", "arguments": {"query": queries[0]}}),
    ]
    found = []
    for name, some in (("whole", documents), ("part", kept)):
        with answering(package, write_documents(folder / name, some, options=options)) as ask:
            found.append([ask(request) for request in requests])
    for request, with_hidden, without in zip(requests, *found, strict=True):
        assert with_hidden == without, request


@pytest.mark.parametrize("statistics", ["visible"], indirect=True)
def test_an_index_without_statistics_is_not_served(
    server: tuple[ModuleType, Path, Path], tmp_path: Path
) -> None:
    package, *_ = server
    importlib.import_module(f"{package.__name__}.app").create_app()
    problems = importlib.import_module(f"{package.__name__}.errors")
    index = write_documents(tmp_path / "v", [make_document(0, Note("Pump", ("oil",)))])
    with pytest.raises(problems.IndexUnusableError, match=r"postings\.counts\.npy"):
        package.load(index)
