"""The SDK's server, used over HTTP."""

import logging
from typing import Any

from mcp import types
from mcp.server import CacheHint, Server
from mcp.shared.exceptions import MCPError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from ..web.filtered import filterable
from ..web.requests import AsyncSearch
from ..web.stopping import stopping
from .about import LIST_TTL_MS, instructions, server_info
from .calls import read_call, refuse, refuse_invalid, tell
from .descriptions import list_tools, read_tools
from .messages import MessageError

# The SDK logs each request, and warns about anything unusual that clients send.
logging.getLogger("mcp").setLevel(logging.ERROR)


def create_server(search: AsyncSearch, version: str) -> Server[Any]:
    """Return the SDK's server, which offers the tools and calls `search`."""
    schemas = {name: tool["inputSchema"] for name, tool in read_tools().items()}

    async def list_all(_context: Any, _page: Any) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate({"tools": list_tools(filterable())})

    async def call_tool(_context: Any, call: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            result = await answer(call)
        except MessageError as error:
            raise MCPError(error.error["code"], error.error["message"]) from None
        return types.CallToolResult.model_validate(result)

    async def answer(call: types.CallToolRequestParams) -> dict[str, Any]:
        try:
            tool, arguments = read_call(call.name, call.arguments)
            async with stopping.in_time():
                if tool.searches:
                    return tell(tool.answer(await search(**arguments)))
                # Runs in a thread, because a search engine may be slow.
                return tell(await run_in_threadpool(tool.answer, arguments))
        except HTTPException as error:
            return refuse(error.detail)
        except Exception as error:
            return refuse_invalid(error)

    info = server_info(version)
    server: Server[Any] = Server(
        info["name"],
        version=version,
        title=info["title"],
        description=info.get("description"),
        instructions=instructions(),
        cache_hints={"tools/list": CacheHint(ttl_ms=LIST_TTL_MS)},
        get_tool_input_schema=schemas.get,
        on_list_tools=list_all,
        on_call_tool=call_tool,
    )
    # The SDK's own middleware would send traces to the exporter in the environment.
    server.middleware.clear()
    return server
