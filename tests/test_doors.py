"""Every interface of a server returns the same passages with the same scores."""

import asyncio
import json
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from servers import chat_sources, get, in_checkout, in_python, post, serving

from foundry.cli.main import main
from foundry.runtime.retrieval.journal import TOO_MUCH

pytestmark = pytest.mark.usefixtures("formatted_once")

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
    with (root / "foundry.toml").open("a") as file:
        file.write("\n[search.operators]\n")
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
    """Return the results of the Python API, from a separate process."""
    program = (
        f"import json, sys; sys.path.insert(0, {str(export)!r});"
        " from handbook import search_hybrid;"
        " print(json.dumps({query: search_hybrid(query, int(sys.argv[1])).to_json()"
        " for query in sys.argv[2:]}))"
    )
    done = subprocess.run(
        [*in_python(program), str(TOP_K), *QUESTIONS],
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


def test_unknown_identifiers_are_named_by_every_interface(export: Path, address: str) -> None:
    query = "PII-2024-9999"
    command = [*in_checkout(export), "search", query]
    done = subprocess.run([*command, "--json"], capture_output=True, check=True)
    printed = json.loads(done.stdout)
    asked = {"messages": [{"role": "user", "content": query}]}
    with urllib.request.urlopen(
        urllib.request.Request(
            f"{address}/chat", json.dumps(asked).encode(), {"Content-Type": "application/json"}
        )
    ) as reply:
        sources = json.loads(reply.read().decode().split("data: ")[1].split("\n")[0])

    async def call() -> Any:
        async with Client(streamable_http_client(f"{address}/mcp")) as client:
            return (await client.call_tool("search", {"query": query})).structured_content

    got, posted = get(f"{address}/search?q={query}"), post(f"{address}/search", {"query": query})
    for answer in (printed, got, posted, sources, asyncio.run(call())):
        assert (answer["mode"], answer["unknown_identifiers"]) == ("hybrid", [query])
    for more in ([], ["--explain"]):
        done = subprocess.run([*command, *more], capture_output=True, check=True)
        assert f"{query} occurs nowhere in these documents." in done.stdout.decode()


def test_a_query_beyond_its_budget_is_reported_by_every_interface(
    export: Path, address: str
) -> None:
    query = "safety" + " path:nowhere" * 30
    quoted = urllib.parse.quote(query)
    command = [*in_checkout(export), "search", query]
    done = subprocess.run([*command, "--json"], capture_output=True, check=True)

    async def call() -> Any:
        async with Client(streamable_http_client(f"{address}/mcp")) as client:
            return (await client.call_tool("search", {"query": query})).structured_content

    found = [json.loads(done.stdout), get(f"{address}/search?q={quoted}"), asyncio.run(call())]
    found.append(post(f"{address}/search", {"query": query}))
    for answer in found:
        assert answer["stages"]["budget"] == {"stopped": ["operators"], "notice": TOO_MUCH}
        assert ranking(answer) == ranking(found[0])
    done = subprocess.run(command, capture_output=True, check=True)
    assert TOO_MUCH in done.stdout.decode()


MANY = [f"p{number}/" for number in range(257)]
REFUSAL = "'path' must have at most 256 values, but has 257"


def refused(request: urllib.request.Request | str) -> tuple[int, str, str]:
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=120)
    with caught.value as error:
        problem = json.load(error)
    return problem["status"], problem["errors"][0]["field"], problem["errors"][0]["message"]


def posting(url: str, body: object) -> urllib.request.Request:
    fields = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    return urllib.request.Request(url, json.dumps(body).encode(), fields)


def test_too_many_values_of_a_filter_are_refused_by_every_interface(
    address: str, export: Path
) -> None:
    filters = {"path": MANY}
    body: dict[str, Any] = {"query": "a", "filters": filters}
    assert refused(posting(f"{address}/search", body)) == (422, "filters.path", REFUSAL)
    messages = [{"role": "user", "content": "a"}]
    chat = posting(f"{address}/chat", {"messages": messages, "filters": filters})
    assert refused(chat) == (422, "filters.path", REFUSAL)
    quoted = "".join(f"&filter=path={name}" for name in MANY)
    assert refused(f"{address}/search?q=a{quoted}")[:2] == (422, "filter")
    call = {"name": "search", "arguments": body}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    with urllib.request.urlopen(posting(f"{address}/mcp", message), timeout=120) as reply:
        result = json.load(reply)["result"]
    assert result["isError"] and result["content"][0]["text"] == f"filters.path: {REFUSAL}"
    options = [word for name in MANY for word in ("--filter", f"path={name}")]
    command = [*in_checkout(export), "search", "a", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and REFUSAL in done.stderr


def test_the_maximum_number_of_values_is_accepted(address: str) -> None:
    filters = {"path": [*MANY[:255], ""]}
    assert post(f"{address}/search", {"query": "a pump", "filters": filters})["results"]
