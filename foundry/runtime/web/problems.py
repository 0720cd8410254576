"""Errors as RFC 9457 problem documents: one shape and one media type for every failure."""

import json
import logging
from collections.abc import Mapping, Sequence
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


def problem_response(
    status: int,
    detail: str,
    *,
    errors: Sequence[tuple[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A problem document; `errors` are pairs of field and message."""
    problem: dict[str, object] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    if errors:
        problem["errors"] = [{"field": field, "message": message} for field, message in errors]
    # Escaped to ASCII because a message may quote input that has no UTF-8 form.
    return Response(
        json.dumps(problem, separators=(",", ":")),
        status_code=status,
        headers=headers,
        media_type=PROBLEM_MEDIA_TYPE,
    )


async def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    detail = error.detail
    if error.status_code == HTTPStatus.NOT_FOUND and detail == HTTPStatus.NOT_FOUND.phrase:
        detail = "There is nothing at this path."
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = ", ".join(_allowed_methods(request.app.routes, request.scope))
        headers["Allow"] = allowed
        detail = f"This path answers {allowed}."
    return problem_response(error.status_code, detail, headers=headers)


def _allowed_methods(routes: Sequence[BaseRoute], scope: Scope) -> list[str]:
    # A router names only the methods of the first route that matches the path, and `web_guard`
    # answers HEAD wherever there is GET.
    return [
        method
        for method, answered_by in (("GET", "GET"), ("HEAD", "GET"), ("POST", "POST"))
        if any(route.matches({**scope, "method": answered_by})[0] is Match.FULL for route in routes)
    ]


async def _on_invalid_request(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = [_describe(found) for found in error.errors()]
    return _unprocessable(errors)


def _describe(error: Mapping[str, Any]) -> tuple[str, str]:
    place, *path = error["loc"]
    if error["type"] == UNKNOWN_FIELD:
        path.append(error["ctx"]["field"])
    message = error["msg"]
    if error["type"] == "missing":
        message = "required, but missing"
    field = ".".join(str(part) for part in path) or str(place)
    return field, message[:1].lower() + message[1:]


async def _on_server_error(request: Request, error: Exception) -> Response:
    if isinstance(error, InvalidRequestError):
        # A query string has the filters beside the query, a body has them in an object.
        field = error.field.removeprefix("filters.") if request.method == "GET" else error.field
        return _unprocessable([(field, error.message)])
    assert isinstance(error, ServerError)
    # The message names files of this machine, which is for its owner alone.
    _logger.error("%s (%s)", error.message, error.hint)
    if isinstance(error, HookError):
        return problem_response(500, "The server failed.")
    return problem_response(503, "The index cannot be used now.", headers={"Retry-After": "5"})


def _unprocessable(errors: Sequence[tuple[str, str]]) -> Response:
    detail = "; ".join(f"{field}: {message}" for field, message in errors)
    return problem_response(422, detail, errors=errors)


PROBLEM_HANDLERS: dict[int | type[Exception], Any] = {
    HTTPException: _on_http_exception,
    RequestValidationError: _on_invalid_request,
    ServerError: _on_server_error,
}
"""Exception handlers of the application; `web_guard` answers what none of them expects."""
