"""Descriptions of the tools, as listed to clients.

Their schemas are generated from the models at export, since importing pydantic takes longer than a
search.
"""

import hashlib
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from ..retrieval.filter_schemas import Filterable, describe_filters
from ..settings import reading, settings

TOOLS_FILE = Path(__file__).with_name("tools.json")
MADE_FROM = (
    *("index/documents.py", "index/records.py", "mcp/models.py", "mcp/tools.py"),
    *("retrieval/facet_counts.py", "retrieval/journal.py", "retrieval/results.py"),
    "web/requests.py",
)
"""The modules with the classes of arguments and results."""


def describe_tools() -> list[dict[str, Any]]:
    """Return the descriptions generated from the models, without a server's title and filters."""
    from pydantic import TypeAdapter

    from .models import MODELS
    from .tools import TOOLS

    return [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": MODELS[tool.name].model_json_schema(),
            "outputSchema": TypeAdapter(tool.result).json_schema(mode="serialization"),
            "annotations": {
                "title": tool.title,
                "readOnlyHint": True,
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": False,
            },
        }
        for tool in TOOLS.values()
    ]


def hash_tools() -> str:
    """Return the SHA-256, in hex, of the modules in MADE_FROM."""
    digest = hashlib.sha256()
    for name in MADE_FROM:
        digest.update((Path(__file__).parents[1] / name).read_bytes())
    return digest.hexdigest()


@cache
def read_tools() -> dict[str, Any]:
    """Return the descriptions by tool name: from the file, unless the modules were edited since."""
    if TOOLS_FILE.exists():
        with reading(TOOLS_FILE) as described:
            if described["made_from"] == hash_tools():
                return {tool["name"]: tool for tool in described["tools"]}
    return {tool["name"]: tool for tool in describe_tools()}


def list_tools(known: Filterable) -> list[dict[str, Any]]:
    """Return the list of tools for an index with these filters."""
    title = settings().title
    tools = deepcopy([*read_tools().values()])
    for tool in tools:
        tool["description"] = tool["description"].replace("{title}", title)
        tool["title"] = tool["annotations"]["title"] = tool["title"].replace("{title}", title)
        match tool:
            case {"inputSchema": {"properties": {"filters": {"anyOf": [filters, *_]}}}}:
                describe_filters(filters, known)
    return tools
