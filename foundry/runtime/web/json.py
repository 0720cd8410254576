"""JSON in, strictly parsed, and JSON out."""

import json
from collections.abc import Callable, Coroutine
from functools import cache
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from pydantic_core import from_json, to_json
from starlette.exceptions import HTTPException

from ..index.records import Record


class JsonResponse(Response):
    """A record, or values of JSON, as compact UTF-8; takes a quarter of the time of `json`."""

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
    """A request whose body is parsed strictly.

    Parsers disagree about NaN, infinities, a key twice in an object, and text that is not Unicode;
    here they are refused, and so are nesting and numbers beyond the parsers' limits.
    """

    async def json(self) -> Any:
        """Parse the body. Raises HTTPException 400."""
        body = await self.body()
        try:
            # Strict about everything but keys.
            from_json(body, allow_inf_nan=False)
            return _DECODER.decode(body.decode())
        except ValueError as error:
            raise HTTPException(400, f"The body is not valid JSON: {error}.") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a key occurs twice in an object")
    return values


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys)


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
