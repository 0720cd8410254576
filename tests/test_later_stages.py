"""Stages that rerank and drop hits: properties of every response, in every interface."""

import asyncio
import json
import os
import subprocess
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner
from conftest import MakeProject
from cross_encoders import write_cross_encoder
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from servers import chat_sources, get, in_checkout, in_python, post, serving
from small_indexes import Note, rendered_server, write_notes, write_server
from test_stages import FILTERABLE, OPTIONS, check_hits, corpora, filters, queries, without_time

from foundry.cli.main import main

pytestmark = pytest.mark.usefixtures("formatted_once", "forked_servers")

WORDS = "mine safety rule lantern bell the of ventilation water gas".split()
STAGES = """
[search.heuristics]
[search.rerank]
model = "moved"
hits = 5
deadline_ms = 60000
[search.minimum_score]
semantic = 0.02
keyword = 0.02
score = 0.01
[search.near_duplicates]
[search.document_cap]
hits = 2
"""


@pytest.fixture(scope="module", params=["linear", "rrf"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ModuleType]:
    """A rendered server with all of STAGES, and a real cross-encoder."""
    root = tmp_path_factory.mktemp("server")
    options = f'{FILTERABLE}fusion = "{request.param}"\n{STAGES}'
    model = write_cross_encoder(root / "model", WORDS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RERANK_MODEL", str(model))
        with rendered_server(root, f"all_{request.param}", options) as package:
            yield package


@pytest.mark.slow
@settings(
    max_examples=10,
    deadline=None,
    # Every example builds an index, so shrinking a failing one would take minutes.
    phases=[Phase.explicit, Phase.generate],
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
    folder = tmp_path_factory.mktemp("index") / "v"
    index = server.load(write_notes(folder, corpus, options=OPTIONS))
    response = server.search_hybrid(query, top_k, mode=mode, filters=wanted)

    hits = response.hits
    check_hits(hits, index, corpus, wanted, top_k, least=0.01)
    shown = [name for hit in hits for name in (hit.id, *hit.near_duplicates)]
    assert len(set(shown)) == len(shown)
    assert max(Counter(hit.document_id for hit in hits).values(), default=0) <= 2
    texts = [hit.text for hit in hits]
    assert len(set(texts)) == len(texts)
    for hit in hits:
        if hit.scores.rerank is not None:
            assert hit.score == hit.scores.rerank
    reranked = [hit.scores.rerank is not None for hit in hits]
    assert reranked == sorted(reranked, reverse=True)
    assert "failed" not in response.stages.get("rerank", {})

    again = server.search_hybrid(query, top_k, mode=mode, filters=wanted)
    assert without_time(again.to_json()) == without_time(response.to_json())
    deeper = server.search_hybrid(query, 100, mode=mode, filters=wanted)
    assert [(hit.id, hit.score) for hit in hits] == [(hit.id, hit.score) for hit in deeper.hits][
        : len(hits)
    ]


COPY = (
    "The lamp room hands out a lantern to everybody who goes down the mine, writes the name and the"
    " hour in the book, and takes the lantern back at the end of the shift, when it is cleaned.\n"
)
SOURCES = {
    "lamps.md": f"# Lanterns\n\n{COPY}",
    "lamps-old.md": f"# Lanterns\n\n{COPY.replace('cleaned', 'wiped')}",
    "gas.md": "# Gas\n\nThe foreman looks for gas in the mine with a lantern before each shift.\n",
    "water.md": "".join(
        f"# Water {word}\n\nWater in the mine is pumped from the {word} sump to the day.\n\n"
        for word in ("upper", "lower", "eastern", "western", "old", "new")
    ),
    "bell.md": "# Bell\n\nOne stroke of the bell means stop, two mean up, three mean down.\n",
}
QUESTIONS = ("Who hands out a lantern?", "water in the mine", "Bell", "safety of the mine")
TOP_K = 4


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Return a server's folder, and its environment."""
    root = tmp_path_factory.mktemp("collection")
    folder = write_server(root, "notes", STAGES)
    for name, text in SOURCES.items():
        (root / "sources" / name).write_text(text, encoding="utf-8")
    result = CliRunner().invoke(main, ["build", str(root)])
    assert result.exit_code == 0, result.output
    model = write_cross_encoder(root / "model", [*WORDS, "hands", "out"])
    return folder, {
        "INDEX_DIR": str(root / ".foundry" / "index"),
        "RERANK_MODEL": str(model),
        "RERANK_WARM": "1",
    }


def ranking(answer: dict[str, Any]) -> list[tuple[str, float]]:
    return [(result["id"], result["score"]) for result in answer["results"]]


def test_every_interface_returns_the_same_hits(collection: tuple[Path, dict[str, str]]) -> None:
    folder, variables = collection
    program = (
        f"import json, sys; sys.path.insert(0, {str(folder)!r}); from notes import search_hybrid;"
        f" print(json.dumps([search_hybrid(query, {TOP_K}).to_json() for query in sys.argv[1:]]))"
    )
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [*in_python(program), *QUESTIONS],
        capture_output=True,
        check=True,
        env=environment,
    )
    answers = dict(zip(QUESTIONS, json.loads(done.stdout), strict=True))

    first = answers[QUESTIONS[0]]
    assert first["results"][0]["title"] == "Lanterns"
    assert len(first["results"][0]["near_duplicates"]) == 1
    assert first["results"][0]["scores"]["rerank"] == first["results"][0]["score"]
    water = answers[QUESTIONS[1]]
    assert [result["path"] for result in water["results"]].count("water.md") == 2
    assert water["stages"]["document_cap"]["left_out"] >= 1
    assert water["stages"]["rerank"] == {"hits": 5}

    with serving(in_checkout(folder), **variables) as address:
        for query, answer in answers.items():
            assert ranking(get(f"{address}/search?q={urllib.parse.quote(query)}&top_k={TOP_K}"))
            posted = post(f"{address}/search", {"query": query, "top_k": TOP_K, "snippets": False})
            assert {**posted, "took_ms": 0} == {**answer, "took_ms": 0}
            assert chat_sources(address, query, TOP_K) == ranking(answer)
        assert asyncio.run(ask_mcp(address)) == [ranking(answer) for answer in answers.values()]
    command = [*in_checkout(folder), "search", QUESTIONS[0], "--top-k", str(TOP_K), "--json"]
    done = subprocess.run(command, capture_output=True, check=True, env=environment)
    assert ranking(json.loads(done.stdout)) == ranking(first)


def test_explanation_describes_stages(collection: tuple[Path, dict[str, str]]) -> None:
    folder, variables = collection
    command = [*in_checkout(folder), "search", QUESTIONS[0], "--explain"]
    environment = {**os.environ, **variables}
    done = subprocess.run(command, capture_output=True, check=True, env=environment, text=True)
    lines = done.stdout.splitlines()
    assert "near_duplicates: removed 1" in lines
    assert "rerank: hits 5" in lines
    scores = [line for line in lines if line.startswith("     semantic ")]
    # Two of the five passages are from the same document.
    assert len(scores) == 4
    assert ", rerank " in scores[0]


async def ask_mcp(address: str) -> list[list[tuple[str, float]]]:
    found = []
    async with Client(streamable_http_client(f"{address}/mcp")) as client:
        for query in QUESTIONS:
            answer = await client.call_tool("search", {"query": query, "top_k": TOP_K})
            assert json.loads(answer.content[0].text) == answer.structured_content
            found.append(ranking(answer.structured_content))
    return found


def test_missing_model_is_reported_and_not_an_error(
    collection: tuple[Path, dict[str, str]],
) -> None:
    folder, variables = collection
    environment = {**os.environ, **variables, "RERANK_MODEL": "/absent"}
    command = [*in_checkout(folder), "search", QUESTIONS[0], "--json"]
    done = subprocess.run(command, capture_output=True, check=True, env=environment, text=True)
    answer = json.loads(done.stdout)
    assert "is not available" in answer["stages"]["rerank"]["failed"]
    assert answer["results"]
    assert "/absent" not in done.stdout


def test_no_hit_reaches_the_minimum(make_project: MakeProject) -> None:
    options = "[search.minimum_score]\nsemantic = 0.99\n"
    config = f'[project]\nname = "n"\n[[sources]]\ntype = "folder"\npath = "sources"\n{options}'
    project = make_project({"a.md": "# Fans\n\nFans move air.\n"}, config=config)
    project.succeed("build")
    answer = project.ask("how is water pumped")
    assert answer["results"] == []
    said = answer["stages"]["minimum_score"]
    assert said["dropped"] == 1
    assert 0 < said["best_dropped"] < 1
    assert (
        "Left out 1 passage below the minimum score"
        in project.succeed("query", "how is water pumped").stdout
    )


def test_invalid_options_are_refused(make_project: MakeProject) -> None:
    config = """
[project]
name = "n"
[[sources]]
type = "folder"
path = "sources"
[search.understanding]
rewrite = false
confidence = 0.5
[search.rerank]
hits = 0
[search.minimum_score]
[search.near_duplicates]
similarity = 0.1
"""
    project = make_project({"a.md": "text"}, config=config)
    output = project.run("build").output
    for key in ("search.rerank.model", "search.rerank.hits", "search.near_duplicates.similarity"):
        assert key in output
    mended = config.replace("hits = 0", 'model = "m"').replace("similarity = 0.1", "")
    (project.root / "foundry.toml").write_text(mended + '[embedding]\nprovider = "none"\n')
    output = project.run("build").output
    assert "search.understanding: does nothing" in output
    assert "search.understanding.confidence" in output
    assert "search.minimum_score: does nothing" in output
    (project.root / "foundry.toml").write_text(
        mended.replace("rewrite = false", 'extract = ["status"]').replace(
            "[search.minimum_score]", "[search.minimum_score]\nsemantic = 0.2"
        )
        + '[embedding]\nprovider = "none"\n'
    )
    output = project.run("build").output
    assert "'status' is not a filter of this index" in output
    assert "search.minimum_score.semantic: needs vectors" in output
