"""JSON in, strictly parsed, and JSON out; query strings in which nothing is open either."""

import json
from collections.abc import Callable, Coroutine
from functools import cache
from typing import Any, get_origin

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter
from pydantic_core import to_json
from starlette.exceptions import HTTPException

from ..index.errors import InvalidRequestError
from ..index.records import Record


class JsonResponse(Response):
    """A record, or values of JSON, as compact UTF-8; takes a quarter of json.dumps's time."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Serialise the answer."""
        if not isinstance(content, Record):
            return to_json(content)
        kind: Any = type(content)
        # The bytes of its `to_json()`, without a dictionary for each record.
        writer = _writer(kind)
        return writer.dump_json(content, by_alias=True, exclude_defaults=True, warnings=False)


@cache
def _writer(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


class StrictRequest(Request):
    """A request whose body must be JSON as RFC 8259 has it, with nothing left open."""

    async def json(self) -> Any:
        """Parse the body once. Raises HTTPException, 400 or 415."""
        if not hasattr(self, "_parsed"):
            media_type = self.headers.get("content-type", "").partition(";")[0].strip().lower()
            if media_type != "application/json":
                raise HTTPException(415, "The body must be sent as application/json.")
            self._parsed = parse_strictly(await self.body())
        return self._parsed


class JsonRoute(APIRoute):
    """A route whose body, if it takes one, must be strict JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, given requests that parse strictly."""
        answer = super().get_route_handler()
        if self.body_field is None:
            return answer

        async def answer_json(request: Request) -> Response:
            strict = StrictRequest(request.scope, request.receive)
            # FastAPI takes a body that is empty, or of another type, for none.
            await strict.json()
            return await answer(strict)

        return answer_json


def once(parameters: type[BaseModel]) -> Any:
    """A dependency of routes: of the query string's parameters only lists may be repeated.

    Raises InvalidRequestError, where the framework would take the last one and say nothing.
    """
    fields = parameters.model_fields.items()
    scalars = {name for name, field in fields if get_origin(field.annotation) is not list}

    async def refuse_repeated(request: Request) -> None:
        seen: set[str] = set()
        for name, _ in request.query_params.multi_items():
            if name in seen and name in scalars:
                raise InvalidRequestError("may be given only once", field=name)
            seen.add(name)

    return Depends(refuse_repeated)


def parse_strictly(body: bytes) -> Any:
    """Parse a JSON text. Raises HTTPException 400 that says what is wrong with it.

    Refused is what RFC 8259 does not allow or leaves open: NaN and infinities, a key twice in an
    object, text that is not UTF-8, nesting or numbers beyond the parser's limits.
    """
    try:
        return json.loads(
            body.decode(), object_pairs_hook=_unique_keys, parse_constant=_refuse_constant
        )
    except RecursionError:
        problem = "it is nested too deeply"
    except ValueError as error:
        problem = str(error)
    raise HTTPException(400, f"The body is not valid JSON: {problem}.")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a key stands twice in an object")
    return values


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")
