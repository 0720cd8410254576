"""The protocol over one connection: the response to each request, in either protocol era.

A client of the handshake era begins with `initialize`; a newer one sends its version and
capabilities with every request. The first request decides which era the connection uses.

The SDK is not used here: it takes longer to import than the rest of the server, and an assistant
starts a server for each session. A test compares this module with the SDK.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..index.layout import PACKAGED_INDEX, IndexLayout, Manifest, resolve_version
from ..retrieval.filter_schemas import Filterable
from .about import LIST_TTL_MS, instructions, server_info
from .descriptions import list_tools
from .messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    MessageError,
)

if TYPE_CHECKING:
    from ..retrieval.results import SearchResponse

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_VERSIONS = ("2026-07-28",)
INSTANT = frozenset({"initialize", "ping", "server/discover", "tools/list"})
"""Methods that are answered before the index is open."""

_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"
_CAPABILITIES = {"tools": {"listChanged": False}}
_METHODS = {
    False: ("initialize", "ping", "tools/list", "tools/call"),
    True: ("server/discover", "tools/list", "tools/call"),
}

Params = Mapping[str, Any]
Result = dict[str, Any]


class Session:
    """A connection with one client; `search` must be set before the first tool call."""

    def __init__(self, version: str) -> None:
        self.search: Callable[..., SearchResponse] | None = None
        self._version = version
        self._is_stateless: bool | None = None
        self._is_initialized = False

    def prepare(self, method: str, params: Params | None) -> Callable[[], Result]:
        """Check a request; return a function that computes its result. Both raise MessageError."""
        params = params or {}
        meta = params.get("_meta")
        has_version = isinstance(meta, dict) and VERSION_KEY in meta
        if self._is_stateless is None:
            self._is_stateless = has_version and method != "initialize"
        if self._is_stateless:
            _check_envelope(method, params)
        elif has_version and method != "initialize":
            said = (
                "this connection serves the handshake protocol era; requests carrying the"
                " 2026-07-28 envelope are not accepted on it"
            )
            raise MessageError(INVALID_REQUEST, said)
        if method not in _METHODS[self._is_stateless]:
            raise MessageError(METHOD_NOT_FOUND, "Method not found", data=method)
        is_known = self._is_stateless or self._is_initialized or method in ("initialize", "ping")
        if not (is_known and _has_valid_meta(meta) and _is_valid(method, params)):
            raise MessageError(INVALID_PARAMS, "Invalid request parameters", data="")
        self._is_initialized |= method == "initialize"
        return lambda: self._shaped(method, self._answer(method, params))

    def _answer(self, method: str, params: Params) -> Result:
        match method:
            case "initialize":
                asked = params["protocolVersion"]
                return {
                    "protocolVersion": (
                        asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
                    ),
                    "capabilities": _CAPABILITIES,
                    "serverInfo": server_info(self._version),
                    "instructions": instructions(),
                }
            case "server/discover":
                return {
                    "supportedVersions": [*STATELESS_VERSIONS],
                    "capabilities": _CAPABILITIES,
                    "instructions": instructions(),
                }
            case "ping":
                return {}
            case "tools/list":
                return {"tools": list_tools(_filterable())}
        # Imported late, since it also imports the index.
        from .calls import read_call, refuse_invalid, tell

        try:
            tool, arguments = read_call(params["name"], params.get("arguments"))
            assert self.search is not None
            return tell(tool.answer(self.search(**arguments) if tool.searches else arguments))
        except Exception as error:
            return refuse_invalid(error)

    def _shaped(self, method: str, result: Result) -> Result:
        if not self._is_stateless:
            return result
        if method != "tools/call":
            ttl = LIST_TTL_MS if method == "tools/list" else 0
            result = {**result, "ttlMs": ttl, "cacheScope": "private"}
        meta = {_SERVER_KEY: server_info(self._version)}
        return {**result, "resultType": "complete", "_meta": meta}


def _filterable() -> Filterable:
    """Return the index's filters, from its manifest. Raises IndexUnusableError."""
    directory = Path(os.environ.get("INDEX_DIR") or PACKAGED_INDEX)
    manifest = Manifest.read(IndexLayout(resolve_version(directory)).manifest)
    return Filterable(manifest.filterable, sorted(manifest.sources))


def _check_envelope(method: str, params: Params) -> None:
    """Raise MessageError unless a request has a supported version and the client's capabilities."""
    if method == "initialize":
        said = (
            "connection is serving the 2026-07-28 protocol; the initialize handshake is not"
            " accepted"
        )
        asked = params.get("protocolVersion")
        raise _unsupported(said, {"requested": asked} if isinstance(asked, str) else {})
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        said = (
            f"params._meta must be an object carrying the required {VERSION_KEY!r} and"
            f" {_CAPABILITIES_KEY!r} envelope keys"
        )
        raise MessageError(INVALID_PARAMS, said)
    if missing := [key for key in (VERSION_KEY, _CAPABILITIES_KEY) if key not in meta]:
        said = f"params._meta is missing the required envelope key(s): {', '.join(missing)}"
        raise MessageError(INVALID_PARAMS, said)
    version = meta[VERSION_KEY]
    if not isinstance(version, str):
        said = "the protocol-version envelope value must be a string"
        raise MessageError(INVALID_PARAMS, said)
    if version not in STATELESS_VERSIONS:
        raise _unsupported("Unsupported protocol version", {"requested": version})


def _unsupported(said: str, requested: dict[str, str]) -> MessageError:
    return MessageError(
        UNSUPPORTED_VERSION, said, data={"supported": [*STATELESS_VERSIONS], **requested}
    )


def _has_valid_meta(meta: object) -> bool:
    if not isinstance(meta, dict):
        return meta is None
    return (
        isinstance(meta.get("progressToken", ""), str | int)
        and isinstance(meta.get(_CAPABILITIES_KEY, {}), dict)
        and (meta.get(_CLIENT_KEY) is None or _is_implementation(meta[_CLIENT_KEY]))
    )


def _is_valid(method: str, params: Params) -> bool:
    match method:
        case "initialize":
            return (
                isinstance(params.get("protocolVersion"), str)
                and isinstance(params.get("capabilities"), dict)
                and _is_implementation(params.get("clientInfo"))
            )
        case "tools/list":
            return isinstance(params.get("cursor"), str | None)
        case "tools/call":
            return isinstance(params.get("name"), str) and isinstance(
                params.get("arguments"), dict | None
            )
    return True


def _is_implementation(told: object) -> bool:
    match told:
        case {"name": str(), "version": str()}:
            return True
    return False
