"""What happened to each request: a log line, metrics, a trace."""

import logging
import os
import re
import secrets
import time
from collections.abc import Callable, MutableMapping
from contextvars import ContextVar
from functools import wraps
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from ..retrieval.results import SearchResponse
from ..retrieval.timing import observe_stages
from .access import OPEN_PATHS
from .metrics import metrics
from .tracing import end_request_span, request_span

NO_ROUTE = "none"
PIECE_BYTES = "piece_bytes"
"""The key of a request's scope under which the length of the last piece of its answer stands."""

CLIENT_GONE = 499
"""Logged where the client went away before there was an answer; nginx uses the same number."""

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_fields: ContextVar[dict[str, object] | None] = ContextVar("fields", default=None)
_logger = logging.getLogger(__name__)


class Observer:
    """ASGI middleware, the outermost: observes each request from its head to its answer's end.

    Every answer has an X-Request-ID, the caller's own if it sent a plain one, which is in the log.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        observe_stages(_observe_stage)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        status, sent = CLIENT_GONE, 0
        request_id = _request_id(scope)
        found: dict[str, object] = {}
        _fields.set(found)

        async def send_observed(message: MutableMapping[str, Any]) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id)]
            else:
                # What an answer that nobody reads would keep in memory; see `web_protocol`.
                scope[PIECE_BYTES] = len(message.get("body", b""))
                sent += scope[PIECE_BYTES]
            await send(message)

        with request_span(scope) as span:
            try:
                await self._app(scope, receive, send_observed)
            finally:
                seconds = time.perf_counter() - begun
                route = _route(scope)
                metrics.count("http_requests", scope["method"], route, str(status))
                metrics.count("http_response_bytes", route, by=sent)
                metrics.observe("http_request_duration_seconds", seconds, route)
                if span is not None:
                    end_request_span(span, scope["method"], route, status)
                client = scope.get("client")
                fields = {
                    "method": scope["method"],
                    "route": route,
                    "status": status,
                    "duration_ms": round(seconds * 1000, 3),
                    "bytes": sent,
                    "request_id": request_id.decode(),
                    "client": client[0] if client else None,
                    **found,
                }
                level = logging.DEBUG if scope["path"] in OPEN_PATHS else logging.INFO
                _logger.log(level, "request", extra={"fields": fields})


def observe_search(search: Callable[..., SearchResponse]) -> Callable[..., SearchResponse]:
    """`search`, counted and timed, and with what became of it in its request's log line.

    The line has the query itself only if LOG_QUERIES is 1.
    """
    log_queries = os.environ.get("LOG_QUERIES") == "1"

    @wraps(search)
    def observed(query: str, *arguments: Any, **options: Any) -> SearchResponse:
        begun = time.perf_counter()
        response = search(query, *arguments, **options)
        metrics.observe("search_stage_seconds", time.perf_counter() - begun, "all")
        degraded = "true" if response.degraded else "false"
        metrics.count("searches", response.mode, response.reason, degraded)
        metrics.count("search_results", response.mode, by=len(response.hits))
        fields = _fields.get()
        if fields is not None:
            fields |= {
                "mode": response.mode,
                "reason": response.reason,
                "degraded": response.degraded,
                "results": len(response.hits),
            }
            if log_queries:
                fields["query"] = query
        return response

    return observed


def _observe_stage(name: str, begun: int, ended: int) -> None:
    metrics.observe("search_stage_seconds", (ended - begun) / 1e9, name)


def _request_id(scope: Scope) -> bytes:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return bytes(value)
    return secrets.token_hex(8).encode()


def _route(scope: Scope) -> str:
    return getattr(scope.get("route"), "path_format", None) or NO_ROUTE
