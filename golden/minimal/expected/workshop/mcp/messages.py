"""Parses JSON-RPC messages strictly, and creates the errors that reply to them."""

import json
import logging
from contextlib import suppress
from typing import Any, NoReturn

from ..errors import ServerError
from ..json_text import format_json

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"

_logger = logging.getLogger(__name__)


class MessageError(Exception):
    """The error that replaces the result in the reply to a message."""

    def __init__(
        self, code: int, message: str, request_id: str | int | None = None, *, data: object = None
    ) -> None:
        super().__init__(message)
        self.error: dict[str, Any] = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data
        self.request_id = request_id

    @property
    def reply(self) -> bytes:
        """The reply as JSON."""
        return to_bytes({"jsonrpc": "2.0", "id": self.request_id, "error": self.error})


def internal_error(error: Exception) -> MessageError:
    """Log an internal error of a request; return the error that the client gets."""
    # The message may name files on this machine, which clients must not see.
    is_known = isinstance(error, ServerError)
    _logger.error("an MCP request failed: %s", error, exc_info=None if is_known else error)
    reason = error.reason if isinstance(error, ServerError) else "The server failed."
    return MessageError(INTERNAL_ERROR, reason)


def to_bytes(value: object) -> bytes:
    """Return a value as compact JSON in UTF-8."""
    return format_json(value).encode()


def read_json(text: str) -> Any:
    """Parse JSON. Raises ValueError, also for NaN, infinities, lone surrogates and deep nesting."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        if "\\" in text:
            # Lone surrogates can only come from escapes.
            to_bytes(value)
    except RecursionError:
        raise ValueError("too deeply nested") from None
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def parse_message(text: bytes) -> dict[str, Any]:
    """Parse one message. Raises MessageError unless it is an object with a valid id."""
    try:
        message = read_json(text.decode())
    except ValueError as error:
        raise MessageError(PARSE_ERROR, f"Parse error: {error}", _find_id(text)) from None
    if not isinstance(message, dict):
        raise MessageError(INVALID_REQUEST, "Send one JSON object; batches are not supported.")
    if type(message.get("id", "")) not in (str, int):
        raise MessageError(INVALID_REQUEST, "An id must be a string or a whole number.")
    return message


def _find_id(text: bytes) -> str | int | None:
    """Return the id of a message that cannot be parsed, since its client waits for a reply.

    Returns None if the id is missing, invalid, or unreadable itself.
    """
    with suppress(ValueError, RecursionError):
        message = json.loads(text)
        if isinstance(message, dict) and type(found := message.get("id")) in (str, int):
            to_bytes(found)
            return found
    return None


def check_version(message: dict[str, Any], header: str | None) -> None:
    """Raise MessageError if a message's version differs from the header's, which the SDK uses."""
    match message:
        case {"params": {"_meta": {"io.modelcontextprotocol/protocolVersion": version}}}:
            if version != header:
                said = "The MCP-Protocol-Version header must equal the version in the message."
                raise MessageError(HEADER_MISMATCH, said, message.get("id"))
