"""The protocol over standard input and output, compared with the SDK's server."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from foundry.runtime.mcp import about, session
from foundry.runtime.mcp.messages import MessageError
from foundry.runtime.mcp.session import Session
from foundry.runtime.settings import Limits, Settings

VERSION, CAPABILITIES, CLIENT = (
    f"io.modelcontextprotocol/{name}"
    for name in ("protocolVersion", "clientCapabilities", "clientInfo")
)
TOOLS = [{"name": "search", "inputSchema": {"type": "object"}}]
SERVER = Settings(
    name="notes",
    title="Plant notes",
    description="Of pumps",
    port=1,
    allowed_hosts=frozenset(),
    max_body_bytes=1,
    limits=Limits(1, 1, 1),
    identifier_patterns=(),
    chat_instructions="",
    examples=(),
)
INFO = {"name": "test", "version": "1"}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": INFO}
MODERN = {"_meta": {VERSION: "2026-07-28", CAPABILITIES: {}}}
Message = tuple[str, Any]


@pytest.fixture(autouse=True, scope="module")
def server() -> Iterator[None]:
    # Imported here, since every process collects this module and the SDK is slow to import.
    from foundry.runtime.mcp import server

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(about, "settings", lambda: SERVER)
        for module in (session, server):
            patch.setattr(module, "list_tools", lambda _known: TOOLS)
        patch.setattr(session, "_filterable", lambda: None)
        patch.setattr(server, "filterable", lambda: None)
        yield


class Lines:
    """The SDK's input and output; each message is sent after the previous one is answered."""

    def __init__(self, messages: list[Message]) -> None:
        self.messages = messages
        self.answers: list[Any] = []

    async def __aiter__(self) -> AsyncIterator[str]:
        for number, (method, params) in enumerate(self.messages):
            message = {"jsonrpc": "2.0", "id": number, "method": method}
            yield json.dumps(message | ({} if params is None else {"params": params}))
            while len(self.answers) <= number:
                await asyncio.sleep(0)

    async def write(self, line: str) -> None:
        answer = json.loads(line)
        self.answers.append(answer.get("result", answer.get("error")))

    async def flush(self) -> None:
        pass


def ask_sdk(messages: list[Message]) -> list[Any]:
    from mcp.server.stdio import stdio_server

    from foundry.runtime.mcp.server import create_server

    async def search(**_: Any) -> Any:
        raise AssertionError("no tool is called")

    async def serve() -> list[Any]:
        sdk, lines = create_server(search, "1"), Lines(messages)
        stream: Any = lines
        async with stdio_server(stdin=stream, stdout=stream) as (read, write):
            await sdk.run(read, write, sdk.create_initialization_options())
        return lines.answers

    return asyncio.run(serve())


def ask(messages: list[Message]) -> list[Any]:
    session, answers = Session("1"), []
    for method, params in messages:
        try:
            answers.append(session.prepare(method, params)())
        except MessageError as error:
            answers.append(error.error)
    return answers


def changed(params: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return the params with one value replaced or removed, or unchanged."""
    values = st.sampled_from([None, 5, "text", [], {}, {"name": "a"}, "2025-03-26", "2026-07-28"])
    paths = [(name,) for name in params] + [
        (name, key) for name in params if isinstance(params[name], dict) for key in params[name]
    ]

    def change(path: tuple[str, ...], value: object, is_removed: bool) -> dict[str, Any]:
        copy: dict[str, Any] = json.loads(json.dumps(params))
        inner = copy[path[0]] if len(path) > 1 else copy
        inner[path[-1]] = value
        if is_removed:
            del inner[path[-1]]
        return copy

    whole = st.just(params)
    return whole | st.builds(change, st.sampled_from(paths), values, st.booleans())


CALL = {"name": "unknown", "arguments": {}}
PROGRESS = {"_meta": {"progressToken": 1}}
ENVELOPE = {"_meta": {**MODERN["_meta"], CLIENT: INFO, "progressToken": "a"}}
REQUESTS: st.SearchStrategy[Message] = st.one_of(
    st.tuples(st.just("initialize"), changed(INITIALIZE)),
    st.tuples(st.sampled_from(["ping", "tools/list"]), st.none() | changed(PROGRESS)),
    st.tuples(st.just("tools/list"), changed({"cursor": "a", **ENVELOPE})),
    st.tuples(st.just("tools/call"), changed(CALL | PROGRESS)),
    st.tuples(st.just("tools/call"), changed(CALL | ENVELOPE)),
    st.tuples(
        st.sampled_from(["ping", "server/discover", "prompts/list", "unknown"]),
        st.sampled_from([None, {}, MODERN]),
    ),
)


@settings(max_examples=150)
@given(st.lists(REQUESTS, min_size=1, max_size=4))
@example([("initialize", INITIALIZE), ("tools/list", None), ("tools/list", MODERN)])
@example([("server/discover", MODERN), ("initialize", INITIALIZE), ("initialize", None)])
@example([("tools/list", {"_meta": {VERSION: "2025-11-25", CAPABILITIES: {}}}), ("ping", {})])
def test_requests_are_answered_as_by_the_sdk(messages: list[Message]) -> None:
    assert ask(messages) == ask_sdk(messages)


@pytest.mark.parametrize(
    "version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01"]
)
def test_handshake_agrees_on_the_same_version_as_the_sdk(version: str) -> None:
    asked: list[Message] = [("initialize", INITIALIZE | {"protocolVersion": version})]
    assert ask(asked) == ask_sdk(asked)
