"""The ASGI middleware that decides which requests reach the application, and in what shape."""

import asyncio
import logging
from collections.abc import MutableMapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .access import AccessPolicy
from .problems import problem_response

BODY_SECONDS = 30.0
"""Within this time the whole body must have arrived, however steadily it trickles."""

MAX_BODY_MESSAGES = 4096
"""Pieces that a body may come in: one byte at a time costs far more than its bytes."""

SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'"),
    (b"referrer-policy", b"no-referrer"),
)
"""Set on every answer that does not set them itself."""

_logger = logging.getLogger(__name__)


class HeadAnsweredError(Exception):
    """A request for a head alone has been answered, and nobody wants the rest of the body."""


class Guard:
    """Checks who asks and how much, answers unexpected errors, sets the security headers.

    The application behind it gets requests whose body has arrived in full, at most
    `max_body_bytes` of it, and HEAD as GET: the answer's body is dropped on its way out.
    """

    def __init__(self, app: ASGIApp, *, policy: AccessPolicy, max_body_bytes: int) -> None:
        self._app = app
        self._policy = policy
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_guarded(message: MutableMapping[str, Any]) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = message["headers"]
                present = {name for name, _ in headers}
                message["headers"] = [
                    *headers,
                    *(header for header in SECURITY_HEADERS if header[0] not in present),
                ]
            elif scope["method"] == "HEAD":
                is_more = message.get("more_body", False)
                await send({**message, "body": b"", "more_body": False})
                if is_more:
                    raise HeadAnsweredError
                return
            await send(message)

        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        try:
            try:
                self._policy.check(scope)
                receive_body = await self._receive_body(scope, receive)
            except HTTPException as refusal:
                # Whatever the client still sends is not read.
                response = problem_response(
                    refusal.status_code,
                    refusal.detail,
                    headers={**(refusal.headers or {}), "Connection": "close"},
                )
                await response(scope, receive, send_guarded)
                return
            if receive_body is not None:
                await self._app(inner, receive_body, send_guarded)
        except HeadAnsweredError:
            return
        except Exception:
            if started:
                raise
            _logger.exception("%s %a failed", scope["method"], scope["path"])
            await problem_response(500, "The server failed.")(scope, receive, send_guarded)
        finally:
            # What the request was taken for, for whoever observes it from outside.
            scope["route"] = inner.get("route")

    async def _receive_body(self, scope: Scope, receive: Receive) -> Receive | None:
        """What delivers the body to the application; None if the client went away.

        Raises HTTPException: 413 for a body that is too large, 408 for one that is too slow.
        """
        length = None
        for name, value in scope["headers"]:
            if name == b"content-length":
                length = int(value)
            elif name == b"transfer-encoding":
                length = -1
        if not length:
            return receive
        if length > self._max_body_bytes:
            raise self._too_large()
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                for _ in range(MAX_BODY_MESSAGES):
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    body += message.get("body", b"")
                    if len(body) > self._max_body_bytes:
                        break
                    if not message.get("more_body", False):
                        return _replay(bytes(body), receive)
        except TimeoutError:
            raise HTTPException(408, f"The body took longer than {BODY_SECONDS:.0f} s.") from None
        raise self._too_large()

    def _too_large(self) -> HTTPException:
        return HTTPException(
            413,
            f"A body may have {self._max_body_bytes} bytes, in {MAX_BODY_MESSAGES} pieces.",
        )


def _replay(body: bytes, receive: Receive) -> Receive:
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_replayed() -> Message:
        return pending.pop() if pending else await receive()

    return receive_replayed
