"""Errors on /v1 in the shape that OpenAI's clients read.

Everything in front of the doors and behind them answers with problem documents; this middleware,
the outermost, turns those of /v1 into OpenAI's errors.
"""

import json
from http import HTTPStatus
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..web.json import JsonResponse
from ..web.problems import PROBLEM_MEDIA_TYPE

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}

OPENAI_ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "The request was refused or failed.",
        "content": {
            "application/json": {
                "schema": {
                    "title": "OpenAiError",
                    "type": "object",
                    "required": ["error"],
                    "properties": {
                        "error": {
                            "type": "object",
                            "required": ["message", "type", "param", "code"],
                            "properties": {
                                "message": {"type": "string"},
                                "type": {"type": "string"},
                                "param": {"type": ["string", "null"]},
                                "code": {"type": ["string", "null"]},
                            },
                        }
                    },
                }
            }
        },
    }
}
"""What the OpenAPI document says about every answer of /v1 that is not a success."""


def openai_error(
    status: int, message: str, *, param: str | None = None, code: str | None = None
) -> Response:
    """An error as OpenAI answers it; `param` is the field to mend."""
    default = "server_error" if status >= 500 else "invalid_request_error"
    error = {
        "message": message,
        "type": _TYPES.get(status, default),
        "param": param,
        "code": code,
    }
    return JsonResponse({"error": error}, status_code=status)


class OpenAiErrors:
    """ASGI middleware: problem documents of /v1 become OpenAI's errors, 422 becomes 400."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            await self._app(scope, receive, send)
            return
        start: Message = {}
        body = b""

        async def send_translated(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start" and _is_problem(message):
                start = message
            elif not start:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body", False):
                    await _translate(start, body)(scope, receive, send)

        await self._app(scope, receive, send_translated)


def _is_problem(start: Message) -> bool:
    media_type = PROBLEM_MEDIA_TYPE.encode()
    return any(name == b"content-type" and value == media_type for name, value in start["headers"])


def _translate(start: Message, body: bytes) -> Response:
    problem: dict[str, Any] = (
        json.loads(body) if body else {"detail": HTTPStatus(start["status"]).phrase}
    )
    fields = [error["field"] for error in problem.get("errors", [])]
    status = 400 if start["status"] == 422 else start["status"]
    response = openai_error(status, problem["detail"], param=fields[0] if fields else None)
    own = {name for name, _ in response.raw_headers}
    response.raw_headers += [header for header in start["headers"] if header[0] not in own]
    return response
