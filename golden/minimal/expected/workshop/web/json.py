"""JSON in, strictly parsed, and JSON out: records, and errors as RFC 9457 problem documents."""

import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from http import HTTPStatus
from typing import Any, Literal

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from pydantic_core import from_json, to_json
from starlette.exceptions import HTTPException
from starlette.routing import Match

from ..index.records import Record
from ..retrieval.settings import InvalidRequestError, ServerError

PROBLEM_MEDIA_TYPE = "application/problem+json"

FAILURES = (HTTPException, RequestValidationError, ServerError)
"""The exceptions that `answer_failure` handles for an application."""

_logger = logging.getLogger(__name__)


class JsonResponse(Response):
    """A record or JSON values as compact UTF-8, written in a quarter of the time of `json`."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Serialise the content."""
        if not isinstance(content, Record):
            return to_json(content)
        # The bytes of its `to_json()`, without a dictionary for each record.
        writer = _writer_of(type(content))
        return writer.dump_json(content, by_alias=True, exclude_defaults=True, warnings=False)


_writer_of: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


class StrictRequest(Request):
    """A request whose body may have no NaN, infinities or lone surrogates, nor nest too deeply."""

    async def json(self) -> Any:
        """Parse the body. Raises HTTPException 400."""
        try:
            return from_json(await self.body(), allow_inf_nan=False)
        except ValueError as error:
            raise HTTPException(400, f"The body is not valid JSON: {error}.") from None


class JsonRoute(APIRoute):
    """A route whose body, if it takes one, must be strict JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, which gets requests that parse strictly."""
        answer = super().get_route_handler()
        if self.body_field is None:
            return answer

        async def answer_json(request: Request) -> Response:
            media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if media_type != "application/json":
                raise HTTPException(415, "The body must be sent as application/json.")
            return await answer(StrictRequest(request.scope, request.receive))

        return answer_json


@dataclass(frozen=True, slots=True)
class ProblemDocument(Record):
    """A problem document; each of `errors` has a `field` and a `message`."""

    type: Literal["about:blank"]
    title: str
    status: int
    detail: str
    errors: tuple[dict[str, str], ...] = ()


PROBLEM_RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "The request was refused or failed.",
        "content": {PROBLEM_MEDIA_TYPE: {"schema": TypeAdapter(ProblemDocument).json_schema()}},
    }
}
"""Describes every response that is not a success in the OpenAPI document."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a request was refused or failed, and the headers of the response."""

    status: int
    detail: str
    errors: tuple[dict[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> Response:
        """Return a response with a problem document."""
        title = HTTPStatus(self.status).phrase
        return JsonResponse(
            ProblemDocument("about:blank", title, self.status, self.detail, self.errors),
            status_code=self.status,
            headers=self.headers,
            media_type=PROBLEM_MEDIA_TYPE,
        )


async def answer_failure(request: Request, error: Exception) -> Response:
    """Return the response to a request that failed: a problem document."""
    problem = describe_failure(request, error)
    # A person who opens a server under a new name sees this first.
    if problem.status == 421 and "text/html" in request.headers.get("accept", ""):
        title, detail = HTTPStatus(421).phrase, escape(problem.detail)
        head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        return HTMLResponse(f"{head}<h1>{title}</h1><p>{detail}</p></html>", 421)
    return problem.response()


def describe_failure(request: Request, error: Exception) -> Problem:
    """Return the problem of a request that failed; log it unless the client caused it."""
    match error:
        case HTTPException(status_code=405):
            return Problem(405, error.detail, headers={"Allow": _allowed_methods(request)})
        case HTTPException():
            return Problem(error.status_code, error.detail, headers=error.headers or {})
        case RequestValidationError():
            return _unprocessable([_describe_field(found) for found in error.errors()])
        case InvalidRequestError():
            # A query string has the filters next to the query, a body has them in an object.
            prefix = "filters." if request.method == "GET" else ""
            return _unprocessable([(error.field.removeprefix(prefix), error.message)])
        case ServerError():
            # The message names files or machines, which is for the owner alone.
            _logger.error("%s (%s)", error.message, error.hint)
            headers = {"Retry-After": "5"} if error.http_status == 503 else {}
            return Problem(error.http_status, error.reason, headers=headers)
    _logger.error("%s %a failed", request.method, request.scope["path"], exc_info=error)
    return Problem(500, "The server failed.")


def _allowed_methods(request: Request) -> str:
    # Starlette names those of the first route that matches; RFC 9110, 15.5.6, wants all.
    methods = {
        method
        for method in ("DELETE", "GET", "PATCH", "POST", "PUT")
        for route in request.app.routes
        if route.matches({**request.scope, "method": method})[0] is Match.FULL
    }
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


def _unprocessable(errors: Sequence[tuple[str, str]]) -> Problem:
    detail = "; ".join(f"{name}: {message}" for name, message in errors)
    return Problem(422, detail, tuple({"field": name, "message": text} for name, text in errors))


def _describe_field(error: Mapping[str, Any]) -> tuple[str, str]:
    place, *path = error["loc"]
    return ".".join(map(str, path)) or place, error["msg"][:1].lower() + error["msg"][1:]
