"""A question gets the same verdict, passages and answer through every interface of an export."""

import asyncio
import json
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from servers import get, in_checkout, post, serving

from foundry.cli.main import main

pytestmark = pytest.mark.usefixtures("formatted_once")

HANDBOOK = Path(__file__).parent.parent / "examples" / "handbook"
NOTES = "# Flags\n\nThe switch `-q` silences the pump. Use --level=<number> to set its level.\n"
QUESTIONS = {
    "What are the safety requirements?": "strong",
    "Who is Orsel Vane?": "strong",
    "30 CFR 75.1725": "strong",
    "Tell me about D40": "strong",
    "What does -q do?": "strong",
    "How do I set the level of the pump?": "strong",
    "fresh water": "strong",
    "What is the capital of France?": "none",
    "PII-2024-9999": "weak",
    "what are the saf": "none",
    "How do I": "none",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("answers") / "handbook"
    shutil.copytree(HANDBOOK, root, ignore=shutil.ignore_patterns(".foundry", "dist"))
    with (root / "foundry.toml").open("a") as file:
        file.write("\n[server]\nopenai = true\n")
    (root / "sources" / "flags.md").write_text(NOTES)
    for command in ("build", "export"):
        result = CliRunner().invoke(main, [command, str(root)])
        assert result.exit_code == 0, result.output
    return root


@pytest.fixture(scope="module")
def address(project: Path) -> Iterator[str]:
    with serving(in_checkout(project / "dist" / "handbook")) as address:
        yield address


@pytest.fixture(scope="module")
def expected(address: str) -> dict[str, Any]:
    return {question: post(f"{address}/search", {"query": question}) for question in QUESTIONS}


def essence(response: dict[str, Any]) -> dict[str, Any]:
    """Return what a caller learns from a response, except for how long it took."""
    shown = ("id", "path", "title", "section", "text", "score")
    hits = [[hit[name] for name in shown] for hit in response["results"]]
    return {
        **{name: response[name] for name in ("match", "mode", "unknown_identifiers")},
        "results": hits,
    }


def test_the_verdicts(expected: dict[str, Any]) -> None:
    assert {question: found["match"] for question, found in expected.items()} == QUESTIONS


def test_http_and_both_command_lines(project: Path, address: str, expected: dict[str, Any]) -> None:
    server = in_checkout(project / "dist" / "handbook")
    for question, found in expected.items():
        got = get(f"{address}/search?q={urllib.parse.quote(question)}")
        command = [*server, "search", question, "--json"]
        printed = subprocess.run(command, capture_output=True, check=True).stdout
        preview = CliRunner().invoke(main, ["query", str(project), question, "--json"]).stdout
        for response in (got, json.loads(printed), json.loads(preview)):
            assert essence(response) == essence(found)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_mcp(transport: str, project: Path, address: str, expected: dict[str, Any]) -> None:
    async def call() -> dict[str, Any]:
        command, *arguments = map(str, in_checkout(project / "dist" / "handbook"))
        parameters = StdioServerParameters(command=command, args=[*arguments, "mcp"])
        streams: Any = stdio_client(parameters)
        if transport == "http":
            streams = streamable_http_client(f"{address}/mcp")
        async with Client(streams) as client:
            return {
                question: (
                    await client.call_tool("search", {"query": question, "top_k": 10})
                ).structured_content
                for question in QUESTIONS
            }

    for question, found in asyncio.run(call()).items():
        assert essence(found) == essence(expected[question])


def test_both_chats(address: str, expected: dict[str, Any]) -> None:
    for question, found in expected.items():
        messages = [{"role": "user", "content": question}]
        request = urllib.request.Request(
            f"{address}/chat",
            json.dumps({"messages": messages}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as reply:
            events = reply.read().decode().split("\n\n")
        data = [json.loads(event.partition("data: ")[2]) for event in events if "data: " in event]
        sources, said = data[0], "".join(event.get("text", "") for event in data[1:-1])
        assert sources["match"] == found["match"]
        assert sources["unknown_identifiers"] == found["unknown_identifiers"]
        hits = [(hit["id"], hit["score"]) for hit in found["results"]]
        chosen = [(source["id"], source["score"]) for source in sources["sources"]]
        assert chosen == hits[: len(chosen)]
        answer = post(f"{address}/v1/chat/completions", {"model": "handbook", "messages": messages})
        # A list of the cited sources follows.
        assert answer["choices"][0]["message"]["content"].startswith(said.strip())
