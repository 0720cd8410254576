"""One question through every door of a server: the same passages with the same scores."""

import asyncio
import json
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from servers import chat_sources, get, in_checkout, post, serving

from foundry.cli import main

HANDBOOK = Path(__file__).parent.parent / "examples" / "handbook"
QUESTIONS = (
    "What are the safety requirements?",
    "D40",
    "Tell me about D40",
    "Who is Orsel Vane?",
    "30 CFR 75.1725",
)
TOP_K = 4
ERAS = ("2026-07-28", "legacy")

Ranking = list[tuple[str, float]]


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("doors") / "handbook"
    shutil.copytree(HANDBOOK, root, ignore=shutil.ignore_patterns(".foundry", "dist"))
    for command in ("build", "export"):
        result = CliRunner().invoke(main, [command, str(root)])
        assert result.exit_code == 0, result.output
    return root / "dist" / "handbook"


@pytest.fixture(scope="module")
def address(export: Path) -> Iterator[str]:
    with serving(in_checkout(export)) as address:
        yield address


@pytest.fixture(scope="module")
def rankings(export: Path) -> dict[str, Ranking]:
    """What the Python API finds, in a process of its own."""
    program = (
        f"import json, sys; sys.path.insert(0, {str(export)!r});"
        " from handbook import search_hybrid;"
        " print(json.dumps({query: search_hybrid(query, int(sys.argv[1])).to_json()"
        " for query in sys.argv[2:]}))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, str(TOP_K), *QUESTIONS],
        capture_output=True,
        check=True,
    )
    found = {query: ranking(answer) for query, answer in json.loads(done.stdout).items()}
    assert all(len(hits) == TOP_K for hits in found.values())
    return found


def ranking(answer: dict[str, Any]) -> Ranking:
    return [(result["id"], result["score"]) for result in answer["results"]]


@pytest.mark.parametrize("query", QUESTIONS)
def test_command_line(query: str, export: Path, rankings: dict[str, Ranking]) -> None:
    command = [*in_checkout(export), "search", query, "--top-k", str(TOP_K), "--json"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert ranking(json.loads(done.stdout)) == rankings[query]


@pytest.mark.parametrize("query", QUESTIONS)
def test_get_and_post(query: str, address: str, rankings: dict[str, Ranking]) -> None:
    quoted = urllib.parse.quote(query)
    assert ranking(get(f"{address}/search?q={quoted}&top_k={TOP_K}")) == rankings[query]
    posted = post(f"{address}/search", {"query": query, "top_k": TOP_K})
    assert ranking(posted) == rankings[query]


@pytest.mark.parametrize("query", QUESTIONS)
def test_sources_of_chat(query: str, address: str, rankings: dict[str, Ranking]) -> None:
    assert chat_sources(address, query, TOP_K) == rankings[query]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_mcp(
    transport: str, era: str, export: Path, address: str, rankings: dict[str, Ranking]
) -> None:
    async def ask() -> dict[str, Ranking]:
        if transport == "stdio":
            command, *arguments = map(str, in_checkout(export))
            parameters = StdioServerParameters(command=command, args=[*arguments, "mcp"])
            streams: Any = stdio_client(parameters)
        else:
            streams = streamable_http_client(f"{address}/mcp")
        found = {}
        async with Client(streams, mode=era) as client:
            for query in QUESTIONS:
                arguments = {"query": query, "top_k": TOP_K}
                answer = await client.call_tool("search", arguments)
                assert json.loads(answer.content[0].text) == answer.structured_content
                found[query] = ranking(answer.structured_content)
        return found

    assert asyncio.run(ask()) == rankings
