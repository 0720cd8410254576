"""What is wrong with an MCP message before it is looked at: checks that the SDK leaves out.

JSON-RPC 2.0 gives a request an id that is a string or a whole number; MCP dropped batches with
version 2025-06-18, and since 2026-07-28 a request over HTTP says its version twice.
"""

from typing import Any

from pydantic_core import from_json, to_json

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
HEADER_MISMATCH = -32020

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
"""Where a message says its version, in `params._meta`, since 2026-07-28."""


class EnvelopeError(Exception):
    """A message that cannot be answered; `request_id` is its id, where that can be told."""

    def __init__(self, code: int, message: str, request_id: str | int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.request_id = request_id

    def to_json(self) -> bytes:
        """The JSON-RPC answer to the message."""
        error = {"code": self.code, "message": self.message}
        return to_json({"jsonrpc": "2.0", "id": self.request_id, "error": error})


def parse_message(text: bytes) -> dict[str, Any]:
    """Parse a message. Raises EnvelopeError unless it is one JSON object with a proper id.

    Not JSON are also what has no UTF-8 form, NaN, and nesting deeper than 200.
    """
    try:
        message = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise EnvelopeError(PARSE_ERROR, f"Parse error: {error}") from None
    if isinstance(message, list):
        raise EnvelopeError(INVALID_REQUEST, "Send one message at a time: there are no batches.")
    if not isinstance(message, dict):
        raise EnvelopeError(INVALID_REQUEST, "A message must be a JSON object.")
    identifier = message.get("id", "")
    if not isinstance(identifier, str | int) or isinstance(identifier, bool):
        raise EnvelopeError(INVALID_REQUEST, "An id must be a string or a whole number.")
    return message


def check_version_header(message: dict[str, Any], header: str | None) -> None:
    """Raise EnvelopeError if a message says a version and the header says another or none."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    said = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    if said is not None and said != header:
        raise EnvelopeError(
            HEADER_MISMATCH,
            f"The MCP-Protocol-Version header must equal {VERSION_KEY} in the message.",
            message.get("id"),
        )
