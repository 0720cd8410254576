#!/usr/bin/env bash
# mcp 2.3.0 (the Python SDK of the Model Context Protocol), MCPServer.
# Expected: an argument that is a JSON string reaches a parameter `str | None` as this string.
# Seen: the SDK parses it as JSON once more, because the annotation is not exactly `str`. "null" becomes None,
#   so a search for what is called null is a search without the argument; "[1]" and "{}" are refused as no
#   strings. "true" and "12" stay, and so does everything for a parameter `str`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet mcp==2.3.0
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("example")


@server.tool()
def find(required: str, optional: str | None = None) -> str:
    return repr((required, optional))


async def call(text):
    try:
        result = await server.call_tool("find", {"required": text, "optional": text})
        return result.content[0].text
    except ToolError as error:
        return str(error).splitlines()[2].strip()


seen = {text: asyncio.run(call(text)) for text in ("null", "true", "12", "[1]", "{}")}
for text, found in seen.items():
    print(f"{text}: {found}")
assert seen["null"] == "('null', None)"
assert seen["true"] == "('true', 'true')" and seen["12"] == "('12', '12')"
assert all("should be a valid string" in seen[text] for text in ("[1]", "{}"))
PYTHON
