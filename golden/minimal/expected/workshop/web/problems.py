"""Turns rejections and failures into problem documents (RFC 9457)."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from http import HTTPStatus
from typing import Any, Literal, Self

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from pydantic import TypeAdapter
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.routing import Match

from ..errors import InvalidRequestError, ServerError
from ..index.records import Record

PROBLEM_MEDIA_TYPE = "application/problem+json"

# The exceptions that `answer_failure` handles.
FAILURES = (HTTPException, RequestValidationError, ServerError)

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProblemDocument(Record):
    """A problem document; each of `errors` has a `field` and a `message`."""

    type: Literal["about:blank"]
    title: str
    status: int
    detail: str
    errors: tuple[dict[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict, metadata={"exclude": True})

    @classmethod
    def of(cls, status: int, detail: str, headers: Mapping[str, str] | None = None) -> Self:
        """Return the document for a status, with headers to send."""
        return cls("about:blank", HTTPStatus(status).phrase, status, detail, headers=headers or {})

    def response(self) -> Response:
        """Return the document as a response."""
        return Response(to_json(self.to_json()), self.status, self.headers, PROBLEM_MEDIA_TYPE)


_SCHEMA = TypeAdapter(ProblemDocument).json_schema(mode="serialization")
# The error responses of endpoints, for the OpenAPI document.
PROBLEM_RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "The request was rejected or failed.",
        "content": {PROBLEM_MEDIA_TYPE: {"schema": _SCHEMA}},
    }
}


async def answer_failure(request: Request, error: Exception) -> Response:
    """Return the response to a failed request: a problem document, or a page.

    Browsers get a page for an outdated link (404) or a host name that is not allowed (421).
    """
    problem = describe_failure(request, error)
    if problem.status in (404, 421) and "text/html" in request.headers.get("accept", ""):
        way = _way_to_search(request) if problem.status == 404 else None
        return HTMLResponse(_write_page(problem, way), problem.status)
    return problem.response()


def _write_page(problem: ProblemDocument, way: str | None) -> str:
    """Return a page about a problem, with a link to the search if there is one."""
    detail = escape(problem.detail)
    if detail == problem.title:
        detail = "There is nothing at this address."
    further = f'<p><a href="{way}">Search the documents</a></p>' if way else ""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{problem.title}</title>'
        f"<h1>{problem.title}</h1><p>{detail}</p>{further}</html>"
    )


def _way_to_search(request: Request) -> str | None:
    """Return the relative URL of the search page, if there is one; it also works behind a proxy."""
    if not _matches(request, method="GET", path="/"):
        return None
    return "../" * (request.scope["path"].count("/") - 1) or "./"


def describe_failure(request: Request, error: Exception) -> ProblemDocument:
    """Return the problem document of a failed request; log it unless the client caused it."""
    match error:
        case HTTPException(status_code=405):
            return ProblemDocument.of(405, error.detail, {"Allow": _allowed_methods(request)})
        case HTTPException():
            return ProblemDocument.of(error.status_code, error.detail, error.headers)
        case RequestValidationError():
            return _unprocessable(*map(_describe_field, error.errors()))
        case InvalidRequestError():
            # In a query string, filters are parameters; in a body, they are in an object.
            prefix = "filters." if request.method == "GET" else ""
            name = error.field.removeprefix(prefix)
            return _unprocessable({"field": name, "message": error.message})
        case ServerError():
            # The message may name files or machines, which only the owner may see.
            _logger.error("%s (%s)", error.message, error.hint)
            return ProblemDocument.of(503, error.reason, {"Retry-After": "5"})
    _logger.error("%s %a failed", request.method, request.scope["path"], exc_info=error)
    return ProblemDocument.of(500, "The server failed.")


def _allowed_methods(request: Request) -> str:
    # Starlette lists only the methods of the first matching route; RFC 9110 (15.5.6) requires all.
    known = ("DELETE", "GET", "PATCH", "POST", "PUT")
    methods = {method for method in known if _matches(request, method=method)}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


def _matches(request: Request, **other: str) -> bool:
    """Return whether a route matches a request with these changes to its scope."""
    scope = {**request.scope, **other}
    return any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)


def _unprocessable(*errors: dict[str, str]) -> ProblemDocument:
    detail = "; ".join(f"{error['field']}: {error['message']}" for error in errors)
    return replace(ProblemDocument.of(422, detail), errors=errors)


def _describe_field(error: Mapping[str, Any]) -> dict[str, str]:
    place, *path = error["loc"]
    message = error["msg"][:1].lower() + error["msg"][1:]
    return {"field": ".".join(map(str, path)) or place, "message": message}
