"""MCP, in process: clients of both protocol eras get the same results as other interfaces."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp import Client
from starlette.testclient import TestClient

from observatory import __version__, load, search_hybrid
from observatory.index.documents import Documents
from observatory.mcp.descriptions import describe_tools, read_tools
from observatory.mcp.server import create_server
from observatory.mcp.session import Session
from observatory.web.routes import in_event_loop

INDEX = load()
DOCUMENT = next(INDEX.part(Documents.open).each([0]))
CHUNK = INDEX.chunk(0)


def connect(mode: str = "legacy") -> Client:
    """A client of this server in one protocol era."""
    search = in_event_loop(search_hybrid)
    return Client(create_server(search, __version__), mode=mode)


@pytest.mark.parametrize("era", ["2026-07-28", "legacy"])
def test_client_finds_and_reads(era: str) -> None:
    async def use() -> None:
        async with connect(era) as client:
            tools = (await client.list_tools()).tools
            assert {"search", "fetch", "list_sources"} <= {tool.name for tool in tools}
            assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
            found = await client.call_tool("search", {"query": DOCUMENT.title, "top_k": 3})
            hits = search_hybrid(DOCUMENT.title, 3).hits
            results = found.structured_content["results"]
            assert [(result["id"], result["score"]) for result in results] == [
                (hit.id, hit.score) for hit in hits
            ]
            assert all(result["url"] for result in results)
            assert json.loads(getattr(found.content[0], "text", "")) == found.structured_content
            read = await client.call_tool("fetch", {"id": CHUNK.id})
            assert read.structured_content["text"] == CHUNK.text
            assert (await client.call_tool("search", {"query": ""})).is_error

    asyncio.run(use())


def test_filters_and_lists_are_those_of_http(client: TestClient) -> None:
    async def use() -> None:
        async with connect() as asking:
            for filters in ({"path": DOCUMENT.path}, {"path": "no/such/path"}):
                asked = {"query": DOCUMENT.title, "filters": filters}
                found = (await asking.call_tool("search", asked)).structured_content["results"]
                wanted = client.post("/search", json=asked).json()["results"]
                assert [result["id"] for result in found] == [hit["id"] for hit in wanted]
            listed = await asking.call_tool("list_sources", {})
            assert listed.structured_content == client.get("/sources").json()
            whole = (await asking.call_tool("fetch", {"id": DOCUMENT.id})).structured_content
            assert CHUNK.text in whole["text"]
            assert (whole["id"], whole["title"]) == (DOCUMENT.id, DOCUMENT.title)

    asyncio.run(use())


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("search", {"query": ""}, "query"),
        ("search", {"query": "a", "top_k": 101}, "top_k"),
        ("search", {"query": "a", "colour": "red"}, "colour"),
        ("search", {"query": "a", "filters": {"colour": "red"}}, "colour"),
        ("fetch", {"id": "there-is-no-such-id"}, "id"),
        ("fetch", {}, "id"),
        ("list_sources", {"colour": "red"}, "colour"),
    ],
)
def test_impossible_call_is_refused(tool: str, arguments: dict[str, object], named: str) -> None:
    async def use() -> None:
        async with connect() as asking:
            refused = await asking.call_tool(tool, arguments)
            assert refused.is_error
            assert named in getattr(refused.content[0], "text", "")

    asyncio.run(use())


def test_tools_are_described_as_their_models_say() -> None:
    assert [*read_tools().values()] == json.loads(json.dumps(describe_tools()))


def test_standard_input_and_output_give_the_same_answers(client: TestClient) -> None:
    session = Session(__version__)
    session.search = search_hybrid
    versions = {"protocolVersion": "2025-11-25", "capabilities": {}}
    session.prepare("initialize", {**versions, "clientInfo": {"name": "test", "version": "1"}})
    calls = [("fetch", {"id": CHUNK.id}), ("search", {"query": ""}), ("list_sources", {})]
    asked = [("tools/call", {"name": name, "arguments": sent}) for name, sent in calls]
    for method, params in [("tools/list", {}), *asked]:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = client.post("/mcp", json=message, headers={"Accept": "application/json"})
        assert answer.json()["result"] == session.prepare(method, params)()


def test_endpoint_is_open_and_has_no_sessions(new_client: Callable[[], TestClient]) -> None:
    client = new_client()
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for path in ("/mcp", "/mcp/"):
        answer = client.post(path, json=message, headers={"Accept": "application/json"})
        named = {tool["name"] for tool in answer.json()["result"]["tools"]}
        assert {"search", "fetch", "list_sources"} <= named
        assert client.get(path).status_code == 405
    assert client.post("/mcp", json=message, headers={"Host": "evil.example"}).status_code == 421


def test_registry_entry_is_this_server() -> None:
    root = Path(__file__).parent.parent
    entry = json.loads((root / "server.json").read_bytes())
    assert {entry["version"], entry["packages"][0]["version"]} == {__version__}
    assert f"<!-- mcp-name: {entry['name']} -->" in (root / "README.md").read_text("utf-8")
