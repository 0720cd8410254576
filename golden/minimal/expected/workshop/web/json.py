"""JSON in, strictly parsed, and JSON out."""

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
