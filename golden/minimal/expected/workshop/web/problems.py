"""Errors as RFC 9457 problem documents, or in the shape that callers of some paths know."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Scope

from ..index.errors import HookError, InvalidRequestError, ServerError
from .requests import UNKNOWN_FIELD

PROBLEM_MEDIA_TYPE = "application/problem+json"

PROBLEM_RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "The request was refused or failed.",
        "content": {
            PROBLEM_MEDIA_TYPE: {
                "schema": {
                    "title": "Problem",
                    "description": "A problem document (RFC 9457).",
                    "type": "object",
                    "required": ["type", "title", "status", "detail"],
                    "properties": {
                        "type": {"const": "about:blank"},
                        "title": {"type": "string"},
                        "status": {"type": "integer"},
                        "detail": {"type": "string"},
                        "errors": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "required": ["field", "message"],
                                "properties": {
                                    "field": {"type": "string"},
                                    "message": {"type": "string"},
                                },
                            },
                        },
                    },
                }
            }
        },
    }
}
"""What the OpenAPI document says about every answer that is not a success."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a request was refused or failed; `errors` are pairs of field and message."""

    status: int
    detail: str
    errors: Sequence[tuple[str, str]] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> Response:
        """Answer with a problem document."""
        document: dict[str, object] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
        }
        if self.errors:
            document["errors"] = [
                {"field": name, "message": message} for name, message in self.errors
            ]
        # Escaped to ASCII because a message may quote input that has no UTF-8 form.
        return Response(
            json.dumps(document, separators=(",", ":")),
            status_code=self.status,
            headers=self.headers,
            media_type=PROBLEM_MEDIA_TYPE,
        )


Shape = Callable[[Problem], Response]
Describe = Callable[[Request, Any], Problem]


class Problems:
    """Answers for every failure of an application, in one shape for each part of its paths.

    Attributes:
        handlers: The exception handlers of the application.
    """

    def __init__(
        self,
        shapes: Mapping[str, Shape] | None = None,
        others: Mapping[type[Exception], Describe] | None = None,
    ) -> None:
        """Shape problems by the beginning of a path; describe `others`, kinds of exceptions."""
        self._shapes = shapes or {}
        self.handlers: dict[int | type[Exception], Any] = {
            kind: self._handler(describe) for kind, describe in {**_KNOWN, **(others or {})}.items()
        }

    def response(self, path: str, problem: Problem) -> Response:
        """Answer a request for a path."""
        for beginning, shape in self._shapes.items():
            if path.startswith(beginning):
                return shape(problem)
        return problem.response()

    def _handler(self, describe: Describe) -> Callable[[Request, Exception], Any]:
        async def answer(request: Request, error: Exception) -> Response:
            return self.response(request.scope["path"], describe(request, error))

        return answer


def _describe_http_exception(request: Request, error: HTTPException) -> Problem:
    headers = dict(error.headers or {})
    detail = error.detail
    if error.status_code == HTTPStatus.NOT_FOUND and detail == HTTPStatus.NOT_FOUND.phrase:
        detail = "There is nothing at this path."
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = ", ".join(_allowed_methods(request.app.routes, request.scope))
        headers["Allow"] = allowed
        detail = f"This path answers {allowed}."
    return Problem(error.status_code, detail, headers=headers)


def _allowed_methods(routes: Sequence[BaseRoute], scope: Scope) -> list[str]:
    # A router names only the methods of the first route that matches the path, and HEAD is
    # answered wherever there is GET.
    return [
        method
        for method, answered_by in (("GET", "GET"), ("HEAD", "GET"), ("POST", "POST"))
        if any(route.matches({**scope, "method": answered_by})[0] is Match.FULL for route in routes)
    ]


def _describe_invalid_request(_request: Request, error: RequestValidationError) -> Problem:
    return _unprocessable([_describe_field(found) for found in error.errors()])


def _describe_field(error: Mapping[str, Any]) -> tuple[str, str]:
    place, *path = error["loc"]
    if error["type"] == UNKNOWN_FIELD:
        path.append(error["ctx"]["field"])
    message = "required, but missing" if error["type"] == "missing" else error["msg"]
    name = ".".join(str(part) for part in path) or str(place)
    return name, message[:1].lower() + message[1:]


def _describe_server_error(request: Request, error: ServerError) -> Problem:
    if isinstance(error, InvalidRequestError):
        # A query string has the filters beside the query, a body has them in an object.
        name = error.field.removeprefix("filters.") if request.method == "GET" else error.field
        return _unprocessable([(name, error.message)])
    # The message names files of this machine, which is for its owner alone.
    _logger.error("%s (%s)", error.message, error.hint)
    if isinstance(error, HookError):
        return Problem(500, "The server failed.")
    return Problem(503, "The index cannot be used now.", headers={"Retry-After": "5"})


def _unprocessable(errors: Sequence[tuple[str, str]]) -> Problem:
    return Problem(422, "; ".join(f"{name}: {message}" for name, message in errors), errors)


_KNOWN: dict[type[Exception], Describe] = {
    HTTPException: _describe_http_exception,
    RequestValidationError: _describe_invalid_request,
    ServerError: _describe_server_error,
}
