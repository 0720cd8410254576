"""MCP of exported servers: real clients and real processes, in both eras of the protocol."""

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from conftest import write_project
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from servers import alone, check_types, get, in_checkout, post, serving

pytestmark = pytest.mark.usefixtures("formatted_once")

CONFIG = """
[project]
name = "notes"
title = "Plant notes"

[[sources]]
type = "folder"
path = "sources"

[chunking]
strategy = "recursive"
max_chars = 200
overlap = 40
"""
GUIDE = "# Pump guide\n\n" + "\n\n".join(
    f"Pump {number} reports error E{number} when its inlet {number} runs dry and has to be primed."
    for number in range(40)
)
QUERY = "error E17"
TOKEN = "token-0123456789-0123456789-0123456789"
VERSION = "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
META = {VERSION_KEY: VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "first",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": "list", "method": "tools/list"}
SEARCH = {"name": "search", "arguments": {"query": QUERY, "top_k": 3}}
CALL = {"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": SEARCH}


def make_export(root: Path, config: str = CONFIG) -> Path:
    files = {"guide.md": GUIDE, "air.md": "# Air\n\nFresh air reaches every room."}
    return write_project(root, files, config, built=True).export()


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_export(tmp_path_factory.mktemp("mcp") / "project")


@pytest.fixture(scope="module")
def address(export: Path) -> Iterator[str]:
    with serving(in_checkout(export)) as address:
        yield address


@asynccontextmanager
async def connected(
    transport: str, era: str, export: Path, address: str, token: str | None = None
) -> AsyncIterator[Client]:
    """A client of the export, as its own process or over HTTP."""
    if transport == "stdio":
        command, *arguments = map(str, in_checkout(export))
        parameters = StdioServerParameters(command=command, args=[*arguments, "mcp"])
        async with Client(stdio_client(parameters), mode=era) as client:
            yield client
    else:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with create_mcp_http_client(headers) as http_client:
            streams = streamable_http_client(address + transport, http_client=http_client)
            async with Client(streams, mode=era) as client:
                yield client


@pytest.mark.parametrize("era", ["legacy", VERSION, "auto"])
@pytest.mark.parametrize("transport", ["stdio", "/mcp", "/mcp/"])
def test_client_finds_what_other_interfaces_find(
    transport: str, era: str, export: Path, address: str
) -> None:
    async def use() -> None:
        async with connected(transport, era, export, address) as client:
            check_tools((await client.list_tools()).tools)
            is_shown = transport != "stdio"
            await check_search(client, address, is_shown)
            await check_fetch(client, address, is_shown)
            sources = await client.call_tool("list_sources", {})
            assert sources.structured_content == get(f"{address}/sources")
            await check_refusals(client)

    asyncio.run(use())


def check_tools(tools: list[Any]) -> None:
    assert [tool.name for tool in tools] == ["search", "fetch", "list_sources"]
    for tool in tools:
        assert tool.title == tool.annotations.title
        assert "Plant notes" in tool.title
        hints = tool.annotations
        assert (hints.read_only_hint, hints.idempotent_hint) == (True, True)
        assert (hints.destructive_hint, hints.open_world_hint) == (False, False)
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema["type"] == "object"
    assert tools[0].input_schema["required"] == ["query"]
    assert tools[1].input_schema["required"] == ["id"]


async def check_search(client: Client, address: str, is_shown: bool) -> None:
    for arguments in (
        {"query": QUERY},
        {"query": QUERY, "top_k": 2, "mode": "keyword"},
        {"query": QUERY, "filters": {"source": ["sources"], "tags": []}},
    ):
        answer = await client.call_tool("search", arguments)
        found = answer.structured_content
        assert [json.loads(item.text) for item in answer.content if item.type == "text"] == [found]
        wanted = post(f"{address}/search", arguments)
        assert (found["mode"], found["reason"]) == (wanted["mode"], wanted["reason"])
        for result, hit in zip(found["results"], wanted["results"], strict=True):
            url = result.pop("url")
            shown = f"{address}/d/{quote(hit['document_id'])}#{quote(hit['id'])}"
            # No page is served over standard input and output.
            assert url == (shown if is_shown else hit["path"])
            assert result.items() <= hit.items()
            assert {"id", "title", "text", "section", "score", "scores"} <= result.keys()


async def check_fetch(client: Client, address: str, is_shown: bool) -> None:
    hit = post(f"{address}/search", {"query": QUERY})["results"][0]
    passage = (await client.call_tool("fetch", {"id": hit["id"]})).structured_content
    assert passage.keys() == {"id", "title", "text", "url", "metadata"}
    assert (passage["text"], passage["title"]) == (hit["text"], hit["title"])
    document = (await client.call_tool("fetch", {"id": hit["document_id"]})).structured_content
    assert document["text"].split() == GUIDE.split()
    assert document["metadata"]["path"] == "guide.md"
    urls = (document["url"], passage["url"].split("#")[0])
    assert urls == (
        (f"{address}/d/{quote(document['id'])}",) * 2 if is_shown else ("guide.md",) * 2
    )


async def check_refusals(client: Client) -> None:
    for name, arguments, said in (
        ("search", {}, "query: field required"),
        ("search", {"query": " "}, "query: "),
        ("search", {"query": 5}, "query: "),
        ("search", {"query": "x", "top_k": "five"}, "top_k: "),
        ("search", {"query": "x", "top_k": 101}, "top_k: "),
        ("search", {"query": "x", "zebra": "y"}, "zebra: extra inputs are not permitted"),
        ("search", {"query": "x", "limit": 5}, "limit: extra inputs are not permitted; did you"),
        ("search", {"query": "x", "filters": {"colour": "red"}}, "filters.colour: unknown"),
        ("search", {"query": "x", "filters": "red"}, "filters: must be an object, such as {"),
        ("search", {"query": "x", "tags": "red"}, "tags: extra inputs are not permitted; it is a"),
        ("fetch", {"document_id": "x"}, "id: field required; document_id: extra inputs"),
        ("fetch", {"id": "none"}, "id: there is no passage or document"),
        ("fetch", {"id": "x", "url": "http://127.0.0.1"}, "url: extra inputs are not permitted"),
        ("list_sources", {"path": "/"}, "path: extra inputs are not permitted"),
    ):
        answer = await client.call_tool(name, arguments)
        assert answer.is_error
        assert getattr(answer.content[0], "text", "").startswith(said)
    asked = {"query": "air", "top_k": "1", "mode": None, "filters": '{"tags": "[\\"red\\"]"}'}
    answer = await client.call_tool("search", asked)
    assert answer.structured_content["results"] == []
    assert answer.structured_content["notice"] == "No passage has tags \u201cred\u201d."
    with pytest.raises(MCPError) as raised:
        await client.call_tool("delete", {})
    assert raised.value.code == -32602
    with pytest.raises(MCPError) as raised:
        await client.list_prompts()
    assert raised.value.code == -32601


def send(
    address: str, body: object, method: str = "POST", path: str = "/mcp", **headers: str
) -> tuple[int, Any]:
    """Send bytes or a message; returns the status, and the response if it is JSON."""
    written = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Content-Type": "application/json", "Accept": "application/json"}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)) as connection:
        # The server may reject the request and close the connection before a large body is sent.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, path, written, fields)
        reply = http.client.HTTPResponse(connection.sock, method=method)
        reply.begin()
        read = reply.read()
        is_json = (reply.getheader("Content-Type") or "").endswith("json")
        return reply.status, json.loads(read) if is_json and read else None


def modern(method: str, params: dict[str, Any], version: str = VERSION) -> dict[str, Any]:
    params = {**params, "_meta": {**META, VERSION_KEY: version}}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


TOOLS = {"MCP_Protocol_Version": VERSION, "Mcp_Method": "tools/list"}
CALLS = {"MCP_Protocol_Version": VERSION, "Mcp_Method": "tools/call", "Mcp_Name": "search"}
NEW_LIST, NEW_CALL = modern("tools/list", {}), modern("tools/call", SEARCH)


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (NEW_LIST, TOOLS, 200, None),
        (NEW_CALL, CALLS, 200, None),
        (NEW_CALL, CALLS | {"Mcp_Name": "=?base64?c2VhcmNo?="}, 200, None),
        (NEW_CALL, CALLS | {"Mcp_Name": "  search  "}, 200, None),
        (modern("tools/list", {}, "2099-01-01"), TOOLS | {"MCP_Protocol_Version": "2099-01-01"},
         400, -32022),
        (NEW_LIST, TOOLS | {"MCP_Protocol_Version": "2025-11-25"}, 400, -32020),
        (NEW_LIST, {"Mcp_Method": "tools/list"}, 400, -32020),
        (NEW_LIST, {"MCP_Protocol_Version": VERSION}, 400, -32020),
        (NEW_LIST, TOOLS | {"Mcp_Method": "tools/call"}, 400, -32020),
        (NEW_CALL, CALLS | {"Mcp_Name": "fetch"}, 400, -32020),
        (NEW_CALL, {key: value for key, value in CALLS.items() if key != "Mcp_Name"}, 400, -32020),
        (LIST, {"MCP_Protocol_Version": "1999-01-01"}, 400, -32602),
        (modern("none", {}), TOOLS | {"Mcp_Method": "none"}, 404, -32601),
        (modern("prompts/list", {}), TOOLS | {"Mcp_Method": "prompts/list"}, 404, -32601),
        (modern("logging/setLevel", {"level": "info"}),
         TOOLS | {"Mcp_Method": "logging/setLevel"}, 404, -32601),
        (modern("subscriptions/listen", {"notifications": {}}),
         TOOLS | {"Mcp_Method": "subscriptions/listen", "Accept": "*/*"}, 404, -32601),
        (modern("tools/call", {"name": "none", "arguments": {}}), CALLS | {"Mcp_Name": "none"},
         400, -32602),
        (modern("tools/call", {"name": "search", "arguments": []}), CALLS, 400, -32602),
        (modern("resources/list", {}), TOOLS | {"Mcp_Method": "resources/list"}, 404, -32601),
        ([NEW_LIST], TOOLS, 400, -32600),
        (NEW_LIST | {"id": None}, TOOLS, 400, -32600),
        (INITIALIZED, TOOLS, 202, None),
        (LIST, {}, 200, None),
        (LIST, {"Mcp_Session_Id": "forged"}, 200, None),
        (CALL, {"MCP_Protocol_Version": "2024-11-05"}, 200, None),
        (CALL, {"MCP_Protocol_Version": "2025-03-26"}, 200, None),
        (CALL, {"MCP_Protocol_Version": "2025-06-18"}, 200, None),
        (CALL, {"MCP_Protocol_Version": "2025-11-25"}, 200, None),
        ([LIST], {}, 400, -32600),
        (LIST | {"id": None}, {}, 400, -32600),
        (INITIALIZED, {}, 202, None),
        (b"{", {}, 400, -32700),
        (b'{"id": "\xff"}', {}, 400, -32700),
        (b"[" * 100_000, {}, 400, -32700),
        (b" " * 1_000_000, {}, 413, None),
        (LIST, {"Content_Type": "text/plain"}, 400, None),
        (LIST, {"Accept": "text/html"}, 406, -32600),
        (LIST, {"Host": "evil.example"}, 421, None),
        (LIST, {"Origin": "http://evil.example"}, 403, None),
        (LIST, {"Host": "LOCALHOST"}, 200, None),
    ],
    ids=lambda value: str(value)[:60],
)  # fmt: skip
def test_messages_and_headers_are_checked_by_the_specification(
    address: str, body: object, headers: dict[str, str], status: int, code: int | None
) -> None:
    got, answer = send(address, body, **headers)
    assert got == status, answer
    assert (answer or {}).get("error", {}).get("code") == code


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "OPTIONS"])
def test_there_are_no_sessions_and_no_streams(address: str, method: str) -> None:
    for path in ("/mcp", "/mcp/"):
        assert send(address, b"", method, path)[0] == 405
        assert send(address, b"", method, path, MCP_Protocol_Version=VERSION)[0] == 405


def test_metrics_name_the_endpoint(address: str) -> None:
    assert send(address, LIST)[0] == 200
    with urllib.request.urlopen(f"{address}/metrics", timeout=120) as reply:
        assert b'http_requests_total{method="POST",route="/mcp",status="200"}' in reply.read()


@pytest.mark.parametrize(
    ("asked", "agreed"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ],
)
def test_handshake_agrees_on_a_version(address: str, asked: str, agreed: str) -> None:
    message = {**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": asked}}  # type: ignore[dict-item]
    status, answer = send(address, message)
    assert (status, answer["result"]["protocolVersion"]) == (200, agreed)
    assert answer["result"]["capabilities"].keys() == {"tools"}


@pytest.mark.slow
def test_concurrent_clients_get_their_own_responses(export: Path) -> None:
    with serving(in_checkout(export)) as address, ThreadPoolExecutor(8) as threads:

        def ask(number: int) -> None:
            arguments = {"query": f"error E{number}", "top_k": 1}
            params = {"name": "search", "arguments": arguments}
            if number % 2:
                message, headers = modern("tools/call", params), CALLS
            else:
                message, headers = {**CALL, "params": params}, {}
            status, answer = send(address, {**message, "id": number}, **headers)
            assert (status, answer["id"]) == (200, number)
            best = answer["result"]["structuredContent"]["results"][0]
            assert f"E{number} " in best["text"]

        list(threads.map(ask, [number % 40 for number in range(100)]))


@pytest.mark.slow
def test_sdk_is_imported_on_the_first_mcp_request(export: Path) -> None:
    asked = f"""
import sys
sys.path.insert(0, {str(export)!r})
from starlette.testclient import TestClient
from notes.app import create_app
client = TestClient(create_app(), base_url="http://127.0.0.1:8000")
def sdk():
    return sorted(name for name in sys.modules if name.partition(".")[0] in ("mcp", "mcp_types"))
assert client.post("/search", json={{"query": "pump"}}).status_code == 200
assert client.get("/sources").status_code == client.get("/openapi.json").status_code == 200
assert client.post("/mcp", content=b"nonsense").status_code == 400
assert not sdk(), sdk()
message = {LIST!r}
assert client.post("/mcp", json=message).status_code == 200
assert "mcp" in sdk()
"""
    subprocess.run([sys.executable, "-I", "-c", asked], check=True, timeout=120)


@pytest.mark.parametrize(
    ("question", "hedge"),
    [
        (QUERY, None),
        ("fresh water", "The documents may not answer this"),
        ("What is the capital of France?", "Nothing in the documents matches well"),
    ],
)
def test_a_doubtful_match_is_reported_by_every_interface(
    question: str, hedge: str | None, export: Path, address: str
) -> None:
    async def use() -> Any:
        async with connected("/mcp", VERSION, export, address) as client:
            return (await client.call_tool("search", {"query": question})).structured_content

    found = asyncio.run(use())
    assert found.get("notice") == (hedge and f"{hedge}; these passages are the closest.")
    command = [*map(str, in_checkout(export)), "search", question]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.startswith(f"{hedge}; the closest passages are:\n" if hedge else "  1. ")


def test_mcp_needs_a_token_and_citations_use_public_url(export: Path) -> None:
    variables = {"API_TOKENS": TOKEN, "PUBLIC_URL": "https://docs.example.com/help/"}
    with serving(in_checkout(export), **variables) as address:
        assert send(address, LIST)[0] == 401
        assert send(address, LIST, path=f"/mcp?token={TOKEN}")[0] == 401

        async def use(era: str) -> str:
            async with connected("/mcp", era, export, address, TOKEN) as client:
                found = (await client.call_tool("search", {"query": QUERY})).structured_content
                return str(found["results"][0]["url"])

        for era in ("legacy", VERSION):
            assert asyncio.run(use(era)).startswith("https://docs.example.com/help/d/")
        forged = send(address, CALL, Host="localhost:1", Authorization=f"Bearer {TOKEN}")[1]
        assert "localhost" not in json.dumps(forged)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", *(pytest.param(each, marks=pytest.mark.slow) for each in ("0.0.0.0", "::"))],
)
def test_host_and_origin_are_checked_on_any_address(export: Path, host: str) -> None:
    command = [*map(str, in_checkout(export)), "serve", "--host", host, "--port", "0"]
    environment = {"PATH": os.environ["PATH"], "API_TOKENS": TOKEN, "ALLOWED_HOSTS": "a.example"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().partition("://")[2].split(" ")[0].rpartition(":")[2])
        address = f"http://127.0.0.1:{port}" if host != "::" else f"http://[::1]:{port}"
        token = {"Authorization": f"Bearer {TOKEN}"}
        try:
            assert send(address, LIST, **token)[0] == 200
            assert send(address, LIST, Host="a.example", **token)[0] == 200
            assert send(address, LIST, Host="evil.example", **token)[0] == 421
            assert send(address, LIST, Origin="http://evil.example", **token)[0] == 403
            assert send(address, LIST, Origin="null", **token)[0] == 403
        finally:
            process.terminate()


def lines(*messages: object) -> bytes:
    return b"".join(
        (message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n"
        for message in messages
    )


def talk(export: Path, said: bytes) -> list[Any]:
    """Return the output messages for this input; the process must exit normally."""
    command = [*in_checkout(export), "mcp"]
    done = subprocess.run(command, input=said, capture_output=True, timeout=120, check=True)
    assert done.stderr == b""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_stdio_continues_after_malformed_messages(export: Path) -> None:
    said: list[tuple[object, int | None]] = [
        (b"{nonsense", -32700),
        (b'{"id": "\xff\xfe"}', -32700),
        (json.dumps(LIST).encode() * 2, -32700),
        ([LIST], -32600),
        (LIST | {"id": None}, -32600),
        (b"x" * 3_000_000, -32600),
        (b"", None),
        (b"  ", None),
        ({"jsonrpc": "2.0", "method": "notifications/unknown"}, None),
        ({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [1]}, None),
        (
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": []}},
            None,
        ),
        ({"jsonrpc": "2.0", "id": "unknown", "result": {}}, None),
    ]
    messages = [message for message, _ in said]
    answers = talk(export, lines(INITIALIZE, INITIALIZED, *messages, CALL, LIST))
    refused = [answer["error"]["code"] for answer in answers if answer["id"] is None]
    assert refused == [code for _, code in said if code]
    # Requests in progress at the end of input are answered too.
    assert {answer["id"] for answer in answers if answer["id"]} == {"first", "call", "list"}


def test_stdio_ends_at_end_of_input(export: Path) -> None:
    assert talk(export, b"") == []
    assert [answer["id"] for answer in talk(export, json.dumps(INITIALIZE).encode())] == ["first"]
    unfinished = talk(export, lines(INITIALIZE) + b'{"jsonrpc": "2.0", "id"')
    assert sorted(str(answer["id"]) for answer in unfinished) == ["None", "first"]


def started(export: Path) -> "subprocess.Popen[bytes]":
    """A server that has answered its first message."""
    process = subprocess.Popen(
        [*in_checkout(export), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin and process.stdout
    process.stdin.write(lines(INITIALIZE))
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == "first"
    return process


def test_stdio_ends_if_output_is_closed(export: Path) -> None:
    with started(export) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.write(lines(INITIALIZED, CALL))
        process.stdin.flush()
        # The input is still open.
        assert process.wait(300) == 0
        assert process.stderr.read() == b""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stdio_ends_at_once_on_a_signal(export: Path, number: signal.Signals) -> None:
    with started(export) as process:
        assert process.stderr
        process.send_signal(number)
        # Like all commands, the server can be interrupted while it loads.
        assert process.wait(300) in (-number, 128 + number)
        assert process.stderr.read() == b""


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_stdio_needs_input_and_output(export: Path, closed: str) -> None:
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *alone(export), "mcp"]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert done.returncode == 1
    assert b"standard input or output is closed" in done.stderr


def test_only_messages_are_written_to_standard_output(export: Path) -> None:
    noisy = f"""
import logging, os, subprocess, sys, warnings
sys.path.insert(0, {str(export)!r})
from notes.mcp.stdio import serve_stdio
from notes.search import search_hybrid
def search(*arguments, **options):
    print("printed")
    sys.stdout.write("written")
    os.write(1, b"raw")
    subprocess.run(["echo", "by a child"])
    warnings.warn("warned")
    logging.warning("logged")
    return search_hybrid(*arguments, **options)
print("before", flush=False)
serve_stdio(lambda: search, "1")
print("after")
"""
    done = subprocess.run(
        [sys.executable, "-I", "-c", noisy],
        input=lines(INITIALIZE, INITIALIZED, CALL),
        capture_output=True,
        timeout=120,
        check=True,
    )
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["first", "call"]
    for noise in (b"printed", b"written", b"raw", b"by a child", b"warned", b"logged", b"after"):
        assert noise in done.stderr


def test_unusable_index_is_named_on_standard_error(export: Path, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "INDEX_DIR": str(tmp_path)}
    done = subprocess.run(
        [*in_checkout(export), "mcp"],
        input=lines(INITIALIZE, INITIALIZED, LIST, CALL),
        env=environment,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert answers.keys() == {"first", "list"}
    assert answers["list"]["error"] == {"code": -32603, "message": "The index is not available."}
    assert str(tmp_path).encode() in done.stderr


def test_stdio_responds_at_once_and_imports_only_what_it_needs(export: Path) -> None:
    asked = f"""
import io, json, os, sys, threading
sys.path.insert(0, {str(export)!r})
sys.argv = ["notes", "mcp"]
def loaded():
    return sorted({{name.partition(".")[0] for name in sys.modules}} & {{
        "asyncio", "fastapi", "mcp", "mcp_types", "numpy", "pydantic", "pydantic_core", "starlette"
    }})
from notes import __main__
from notes.mcp import stdio
found = []
class Watched(stdio.Connection):
    def _write(self, reply):
        found.append(loaded())
        super()._write(reply)
stdio.Connection = Watched
assert __main__.main() == 0
print(json.dumps(found), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-I", "-c", asked],
        input=lines(INITIALIZE, INITIALIZED, LIST, CALL),
        capture_output=True,
        timeout=120,
        check=True,
    )
    assert json.loads(done.stderr) == [[], [], ["numpy"]]


ASKED = [
    ("tools/list", {}),
    ("tools/call", {"name": "search", "arguments": {"query": QUERY, "top_k": 3}}),
    ("tools/call", {"name": "search", "arguments": {"query": "What is the capital of France?"}}),
    ("tools/call", {"name": "search", "arguments": {"query": QUERY, "mode": "keyword"}}),
    ("tools/call", {"name": "search", "arguments": {"query": QUERY, "filters": {"tags": "old"}}}),
    ("tools/call", {"name": "search", "arguments": {"query": QUERY, "filters": {"colour": "red"}}}),
    ("tools/call", {"name": "search", "arguments": {"query": QUERY, "filters": "red"}}),
    ("tools/call", {"name": "search", "arguments": {"query": f" {QUERY} ", "top_k": "2"}}),
    ("tools/call", {"name": "search", "arguments": {"query": "", "top_k": 101, "limit": 1}}),
    ("tools/call", {"name": "search"}),
    ("tools/call", {"name": "fetch", "arguments": {"id": "sources/guide.md"}}),
    ("tools/call", {"name": "fetch", "arguments": {"id": "guide.md"}}),
    ("tools/call", {"name": "fetch", "arguments": {"id": "none"}}),
    ("tools/call", {"name": "fetch", "arguments": {}}),
    ("tools/call", {"name": "list_sources"}),
    ("tools/call", {"name": "list_sources", "arguments": {"path": "/"}}),
    ("tools/call", {"name": "delete", "arguments": {}}),
    ("tools/call", {"name": "search", "arguments": []}),
    ("prompts/list", {}),
    ("unknown", {}),
]


@pytest.mark.parametrize("era", ["2025-06-18", VERSION])
def test_both_transports_give_the_same_answers(era: str, export: Path) -> None:
    asked = [*ASKED, ("server/discover", {}) if era == VERSION else ("ping", {})]
    messages: list[dict[str, Any]] = []
    for number, (method, params) in enumerate(asked):
        held = {**params, "_meta": META} if era == VERSION else params
        messages.append({"jsonrpc": "2.0", "id": number, "method": method, "params": held})
    began = [] if era == VERSION else [INITIALIZE, INITIALIZED]
    # Citations link to the address a server listens on, unless PUBLIC_URL is set.
    address = {"PUBLIC_URL": "https://docs.example.com"}
    done = subprocess.run(
        [*in_checkout(export), "mcp"],
        input=lines(*began, *messages),
        capture_output=True,
        timeout=120,
        check=True,
        env={**os.environ, **address},
    )
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    with serving(in_checkout(export), **address) as base:
        for message in messages:
            name = message["params"].get("name")
            headers = {"MCP_Protocol_Version": era}
            if era == VERSION:
                headers |= {"Mcp_Method": message["method"]}
                headers |= {"Mcp_Name": name} if isinstance(name, str) else {}
            assert send(base, message, **headers)[1] == answers[message["id"]]


def test_registry_entry_respects_the_limits_of_its_schema(export: Path) -> None:
    entry = json.loads((export / "server.json").read_bytes())
    assert entry["name"] == "com.example/notes"
    assert f"<!-- mcp-name: {entry['name']} -->" in (export / "README.md").read_text()
    assert entry["$schema"].endswith("/2025-12-11/server.schema.json")
    # Only `assistants = true` adds the option that registers the server with an assistant.
    assert "--install" not in (export / "README.md").read_text()
    assert 1 <= len(entry["title"]) <= 100
    assert 1 <= len(entry["description"]) <= 100
    assert entry["version"] == entry["packages"][0]["version"] == "0.1.0"


@pytest.fixture(scope="module")
def export_without(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = f"{CONFIG}\n[server]\nmcp = false\n"
    return make_export(tmp_path_factory.mktemp("without") / "project", config)


def test_server_without_mcp_has_no_files_of_it(export_without: Path) -> None:
    assert not list(export_without.rglob("*mcp*"))
    assert not (export_without / "server.json").exists()
    for name in ("pyproject.toml", "README.md", "notes/app.py", "notes/__main__.py"):
        assert "mcp" not in (export_without / name).read_text().lower(), name
    with serving(in_checkout(export_without)) as address:
        assert send(address, LIST)[0] == 404
    command = [*in_checkout(export_without), "mcp"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "invalid choice: 'mcp'" in done.stderr


@pytest.fixture(scope="module")
def export_without_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = f"{CONFIG}\n[server]\npage = false\n"
    return make_export(tmp_path_factory.mktemp("no-page") / "project", config)


@pytest.mark.parametrize("which", ["export", "export_without_page"])
def test_citations_link_to_the_cited_passage(which: str, request: pytest.FixtureRequest) -> None:
    with serving(in_checkout(request.getfixturevalue(which))) as address:
        best = send(address, CALL)[1]["result"]["structuredContent"]["results"][0]
        assert best["url"].startswith(address)
        assert best["url"].endswith(best["id"])
        with urllib.request.urlopen(best["url"], timeout=120) as reply:
            assert "E17 " in reply.read().decode()


@pytest.mark.slow
def test_types_are_correct_without_mcp(export_without: Path) -> None:
    check_types(export_without)
