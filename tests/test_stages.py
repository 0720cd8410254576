"""Properties of every search, over random corpora, options, queries and stages."""

import importlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_indexes import Note, client_of, number_of, rendered_server, write_notes

from foundry.config.search import IndexOptions
from foundry.runtime.index.tokens import MAX_QUERY_TERMS

FILTERABLE = '[search]\nfilterable = ["team"]\n'
COMPOSITIONS = {
    "linear": FILTERABLE,
    "rrf": FILTERABLE + 'fusion = "rrf"\n',
    "none": '[embedding]\nprovider = "none"\n' + FILTERABLE,
    "everything": FILTERABLE + "[search.operators]\n"
    "[search.adaptive_weights]\n[search.anchors]\n[search.recency]\n"
    "[search.expansion]\n"
    "minimum_cosine = 0.2\n[search.links]\nseeds = 3\n[search.word_parts]\n",
    "decaying_rrf": FILTERABLE + 'fusion = "rrf"\n[search.adaptive_weights]\n'
    '[search.recency]\nkind = "decay"\n[search.links]\nseeds = 1\nneighbours = 2\nfactor = 1.0\n',
    "keywords": '[embedding]\nprovider = "none"\n'
    + FILTERABLE
    + "identifier_fallback = false\n[search.anchors]\nfactor = 3.0\n[search.links]\n",
}
OPTIONS = IndexOptions(filterable=("team",), expansion_words=50)


@pytest.fixture(scope="module", params=COMPOSITIONS)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ModuleType]:
    root = tmp_path_factory.mktemp("server")
    with rendered_server(root, f"stages_{request.param}", COMPOSITIONS[request.param]) as package:
        yield package


@pytest.fixture(autouse=True)
def reference_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFERENCE_DATE", "2026-02-01")


words = st.sampled_from(
    "mine safety rule D40 D41 75.1725 aboleth lantern bell the of max_size ventilation water gas"
    " 日本語 émigré".split()
)
texts = st.lists(words, min_size=1, max_size=8).map(" ".join)
notes = st.builds(
    Note,
    title=st.lists(words, min_size=1, max_size=2).map(" ".join),
    passages=st.lists(texts, min_size=1, max_size=3).map(tuple),
    links=st.lists(st.integers(0, 9), max_size=3).map(tuple),
    modified=st.sampled_from([None, "2026-02-02", "2026-01-30", "2026-01-10", "2020-01-01"]),
    tags=st.sampled_from([(), ("odd",), ("odd", "third")]),
    metadata=st.sampled_from([{}, {"team": "core"}, {"team": "Ödland"}]),
    media_type=st.sampled_from(["text/markdown", "text/plain"]),
)
corpora = st.lists(notes, min_size=1, max_size=10)
queries = st.one_of(texts, st.text(min_size=1, max_size=30).filter(str.strip))
filters = st.sampled_from(
    [
        None,
        {"source": "s0"},
        {"tags": ["odd", "third"]},
        {"team": ["core", "Ödland"]},
        {"team": "core", "media_type": "text/plain"},
        {"team": "nobody"},
        {"path": "notes/1"},
        {"path": ["notes/2.md", "nowhere"], "modified_after": "2026-01-01"},
        {"modified_before": "2026-01-20"},
    ]
)


def passes(note: Note, number: int, wanted: dict[str, Any]) -> bool:
    """Return whether a note passes all filters, without the server's code."""
    for name, value in wanted.items():
        values = [value] if isinstance(value, str) else value
        passed = {
            "source": lambda values: f"s{number % 2}" in values,
            "tags": lambda values: set(values) <= set(note.tags),
            "team": lambda values: note.metadata.get("team") in values,
            "media_type": lambda values: note.media_type in values,
            "path": lambda values: any(f"notes/{number}.md".startswith(v) for v in values),
            "modified_after": lambda values: (note.modified or "") >= values[0],
            "modified_before": lambda values: note.modified is not None
            and note.modified < values[0],
        }[name](values)
        if not passed:
            return False
    return True


def has_vectors(server: ModuleType) -> bool:
    return server.__name__ not in {"stages_none", "stages_keywords"}


def check_hits(
    hits: Sequence[Any],
    index: Any,
    corpus: list[Note],
    wanted: dict[str, Any] | None,
    top_k: int,
    least: float = 0.0,
) -> None:
    """Check number, scores, order, ids and filters of hits."""
    assert len(hits) <= top_k
    assert all(least <= hit.score <= 1 and math.isfinite(hit.score) for hit in hits)
    assert list(hits) == sorted(hits, key=lambda hit: (-hit.score, number_of(index, hit)))
    assert len({hit.id for hit in hits}) == len(hits)
    for hit in hits:
        number = int(hit.document_id[1:])
        assert wanted is None or passes(corpus[number], number, wanted)


def without_time(answer: dict[str, Any]) -> dict[str, Any]:
    return {**answer, "took_ms": 0}


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    corpus=corpora,
    query=queries,
    top_k=st.integers(1, 12),
    mode=st.sampled_from(["hybrid", "semantic", "keyword"]),
    wanted=filters,
)
def test_invariants(
    server: ModuleType,
    tmp_path_factory: pytest.TempPathFactory,
    corpus: list[Note],
    query: str,
    top_k: int,
    mode: str,
    wanted: dict[str, Any] | None,
) -> None:
    vectors = has_vectors(server)
    folder = tmp_path_factory.mktemp("index") / "v"
    index = server.load(write_notes(folder, corpus, vectors=vectors, options=OPTIONS))
    options: dict[str, Any] = {"filters": wanted}
    if vectors:
        options["mode"] = mode
    response = server.search_hybrid(query, top_k, **options)
    hits = response.hits
    check_hits(hits, index, corpus, wanted, top_k)
    for hit in hits:
        # A hit that represents equal ones lists their places too.
        stored = index.find_chunk(hit.id).to_json() | {"also_at": hit.to_json()["also_at"]}
        assert stored.items() <= hit.to_json().items()
        lanes = hit.scores.to_json().values()
        assert all(lane is None or 0 <= lane <= 1 for lane in lanes)
        assert all(0 < factor <= 3 and factor != 1 for factor in hit.boosts.values())
        assert any(lane is not None for lane in lanes) or "links" in hit.boosts

    again = server.search_hybrid(query, top_k, **options)
    assert without_time(again.to_json()) == without_time(response.to_json())
    name = server.__name__.removeprefix("stages_")
    if name in {"linear", "none"} or (name == "rrf" and response.mode != "hybrid"):
        deeper = server.search_hybrid(query, 100, **options).hits
        assert [(hit.id, hit.score) for hit in hits] == [
            (hit.id, hit.score) for hit in deeper[: len(hits)]
        ]


def test_only_the_beginning_of_a_long_query_is_searched(server: ModuleType, tmp_path: Path) -> None:
    words = [f"q{first}{second}q" for first in "bcdfghjkm" for second in "bcdfghjkm"]
    words = words[: MAX_QUERY_TERMS + 1]
    pair = [Note("First", (words[0],)), Note("Last", (words[-1],))]
    server.load(write_notes(tmp_path / "v", pair, vectors=has_vectors(server), options=OPTIONS))
    options = {"mode": "keyword"} if has_vectors(server) else {}
    within = server.search_hybrid(" ".join(words[:-1]), **options)
    assert [hit.title for hit in within.hits] == ["First"]
    assert "query_length" not in within.stages
    query = " ".join(words)
    beyond = server.search_hybrid(query, **options)
    assert [hit.score for hit in beyond.hits] == [hit.score for hit in within.hits]
    assert beyond.query == query
    assert beyond.stages["query_length"]["searched"].split() == words[:-1]


@settings(
    max_examples=3,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(corpus=corpora, query=texts, wanted=filters)
def test_every_interface_returns_the_same(
    server: ModuleType,
    tmp_path_factory: pytest.TempPathFactory,
    corpus: list[Note],
    query: str,
    wanted: dict[str, Any] | None,
) -> None:
    vectors = has_vectors(server)
    folder = tmp_path_factory.mktemp("index") / "v"
    server.load(write_notes(folder, corpus, vectors=vectors, options=OPTIONS))
    expected = without_time(server.search_hybrid(query, filters=wanted).to_json())

    client = client_of(server)
    body: dict[str, Any] = {"query": query, "snippets": False} | (
        {} if wanted is None else {"filters": wanted}
    )
    assert without_time(client.post("/search", json=body).json()) == expected

    parameters: list[tuple[str, str | int | float | bool | None]] = [("q", query)]
    parameters.append(("snippets", False))
    for name, value in (wanted or {}).items():
        values = [value] if isinstance(value, str) else value
        parameters += [("filter", f"{name}={entry}") for entry in values]
    assert without_time(client.get("/search", params=parameters).json()) == expected

    del body["snippets"]
    call = {"name": "search", "arguments": body}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    accepted = {"Accept": "application/json, text/event-stream"}
    described = client.post("/mcp", json=message, headers=accepted).json()["result"][
        "structuredContent"
    ]
    assert described["stages"] == expected["stages"]
    for passage, result in zip(described["results"], expected["results"], strict=True):
        for name in ("id", "score", "scores", "boosts"):
            assert passage[name] == result[name]


def test_filters_of_this_index_are_described_and_others_refused(
    server: ModuleType, tmp_path: Path
) -> None:
    vectors = has_vectors(server)
    note = Note("Pump", ("a pump",), metadata={"team": "core"})
    server.load(write_notes(tmp_path / "v", [note], vectors=vectors, options=OPTIONS))
    client = client_of(server)
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    described = schemas["SearchBody"]["properties"]["filters"]["anyOf"][0]["properties"]
    assert {"team", "path", "media_type"} <= set(described)

    refused = client.post("/search", json={"query": "pump", "filters": {"colour": "red"}})
    assert refused.status_code == 422
    assert "known: source, tags, path, media_type, modified_after, modified_before, team" in (
        refused.json()["detail"]
    )
    assert client.get("/search", params={"q": "pump", "filter": "team"}).status_code == 422

    errors = importlib.import_module(f"{server.__name__}.errors")
    chosen = {"colour": "red"}
    with pytest.raises(errors.InvalidRequestError, match="unknown filter 'colour'"):
        server.search_hybrid("pump", filters=chosen)
    assert len(server.search_hybrid("pump", filters={"team": "core"}).hits) == 1


def test_a_filter_that_very_few_pass_loses_nothing(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """The few that pass are all ranked, however many others rank before them."""
    root = tmp_path_factory.mktemp("server")
    rng = np.random.default_rng(7)
    vocabulary = [f"{a}{b}" for a in ("pump", "seal", "valve", "gas", "air") for b in "abcdefghij"]
    corpus = []
    for number in range(1200):
        kept = number % 400 == 0
        text = "a pump among others " if kept else "pump " * 5
        text += " ".join(rng.choice(vocabulary, 6))
        corpus.append(Note("note", (text,), metadata={"team": "core"} if kept else {}))
    with rendered_server(root, "filtered", FILTERABLE) as package:
        package.load(write_notes(root / "v", corpus, options=OPTIONS))
        chosen = {"team": "core"}
        for mode in ("hybrid", "semantic", "keyword"):
            hits = package.search_hybrid("pump", 10, mode=mode, filters=chosen).hits
            assert {hit.document_id for hit in hits} == {"d0", "d400", "d800"}, mode
