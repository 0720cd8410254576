"""Tool calls: their arguments, and results or refusals as sent to clients."""

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidRequestError
from ..index.records import Record
from ..json_text import format_json
from .arguments import RefusedCallError, read_arguments
from .descriptions import read_tools
from .messages import INVALID_PARAMS, MessageError, internal_error
from .tools import TOOLS, Tool


def read_call(name: str, sent: Mapping[str, Any] | None) -> tuple[Tool, dict[str, Any]]:
    """Return a tool and the parsed arguments for it.

    Raises MessageError, RefusedCallError and InvalidRequestError.
    """
    if name not in TOOLS:
        raise MessageError(INVALID_PARAMS, f"Unknown tool: {name}")
    schema = read_tools()[name]["inputSchema"]
    return TOOLS[name], read_arguments(name, schema, sent or {})


def tell(found: Record) -> dict[str, Any]:
    """Return the result of a call, as structured data and as text."""
    data = found.to_json()
    text = {"type": "text", "text": format_json(data)}
    return {"content": [text], "structuredContent": data, "isError": False}


def refuse(said: str) -> dict[str, Any]:
    """Return a refusal as a tool result, so that the model can correct its call."""
    return {"content": [{"type": "text", "text": said}], "isError": True}


def refuse_invalid(error: Exception) -> dict[str, Any]:
    """Return the refusal of an invalid call. Raises MessageError for any other error."""
    if isinstance(error, RefusedCallError):
        return refuse(str(error))
    if isinstance(error, InvalidRequestError):
        return refuse(f"{error.field}: {error.message}")
    if isinstance(error, MessageError):
        raise error
    raise internal_error(error) from None
