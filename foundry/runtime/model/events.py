"""Reads the stream of a language model: server-sent events, and errors in other formats."""

import re
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, NamedTuple

from .replies import ModelError

if TYPE_CHECKING:
    import httpx2

_LINE_END = re.compile(r"\r\n|\n|\r(?!\Z)")


class StreamedEvent(NamedTuple):
    """An event; `name` is `error` if the endpoint marks its data as an error."""

    name: str
    data: str


async def read_events(
    response: "httpx2.Response", max_characters: int
) -> AsyncGenerator[StreamedEvent, None]:
    """Yield the events of a reply; a reply that is not a stream is one event. Raises ModelError.

    Some endpoints report an error in a line `error: {...}`, or in a line of plain JSON; standard
    clients ignore both.
    """
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_whole = kind == "application/json"
    if not is_whole and kind != "text/event-stream":
        raise ModelError("broke off, since it sent no events")
    name, said, waiting = "", "", ""
    has_data = False
    async for piece in response.aiter_text():
        waiting += piece
        lines = [] if is_whole else _LINE_END.split(waiting)
        waiting = lines.pop() if lines else waiting
        for line in lines:
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if not line:
                if has_data:
                    yield StreamedEvent(name, said)
                name, said, has_data = "", "", False
            elif field == "event":
                name = value
            elif field == "data":
                said, has_data = (f"{said}\n{value}" if has_data else value), True
            elif field == "error":
                yield StreamedEvent("error", value)
            elif line.startswith("{"):
                yield StreamedEvent("", line)
        if len(waiting) + len(said) > max_characters:
            raise ModelError("broke off, since an event was too long")
    if is_whole or waiting.startswith("{"):
        yield StreamedEvent("", waiting)
