"""The OpenAPI document, corrected where FastAPI's is wrong or incomplete.

FastAPI 0.165 gives an event stream the schema of a single event, so that a generated client would
parse the whole stream as JSON. It repeats shared schemas for each endpoint, and does not know about
tokens that middleware checks.
"""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI

from ..index.reader import served
from .middleware import OPEN_PATHS

EVENT_STREAM = "text/event-stream"
REFERENCE = "#/components/schemas/"
NO_TELEMETRY = {"tracing": False, "metrics": False, "logs": False}


class Application(FastAPI):
    """An application whose document describes streams, problems, and tokens."""

    def __init__(self, *, asks_for_tokens: bool = False, **options: Any) -> None:
        """Pass options to FastAPI; `asks_for_tokens` documents tokens for all but health checks.

        Requests are traced only if `telemetry` is on.
        """
        super().__init__(**{"telemetry": NO_TELEMETRY, **options})
        self._asks_for_tokens = asks_for_tokens
        self._version = ""

    def openapi(self) -> dict[str, Any]:
        """Return the document; generated again for each new index, whose values it lists."""
        version = served.whole().version
        if self.openapi_schema is None or self._version != version:
            self.openapi_schema, self._version = None, version
            document = super().openapi()
            schemas = document.setdefault("components", {}).setdefault("schemas", {})
            for media_type, content in _contents(document):
                is_text = media_type.startswith("text/")
                fallback = {"type": "string"} | ({} if is_text else {"format": "binary"})
                content["schema"] = _lift(content.get("schema", fallback), schemas)
                if media_type == EVENT_STREAM:
                    # FastAPI describes streams with a key of OpenAPI 3.2 in a 3.1 document.
                    event = content.pop("itemSchema", None)
                    content["schema"] = _stream_of(event or content["schema"])
            if self._asks_for_tokens:
                _ask_for_tokens(document)
            self.openapi_schema = document
        return self.openapi_schema


def _contents(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield media type and content of every response, as copies that can be changed."""
    for path in document["paths"].values():
        for operation in path.values():
            for response in operation["responses"].values():
                contents = response.get("content", {})
                for media_type in contents:
                    contents[media_type] = dict(contents[media_type])
                    yield media_type, contents[media_type]


def _lift(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """Move a schema to the document's shared schemas, named by its title; return a reference.

    Its `$defs` move there too. A schema without title or properties is returned unchanged.
    """
    if "properties" not in schema or "title" not in schema:
        return schema
    for name, inner in schema.get("$defs", {}).items():
        schemas.setdefault(name, inner)
    own = {key: value for key, value in schema.items() if key != "$defs"}
    schemas.setdefault(schema["title"], own)
    return {"$ref": REFERENCE + schema["title"]}


def _stream_of(data: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a stream whose events, or their data, have this schema."""
    choices = [choice.get("$ref", "") for choice in data.get("anyOf", [data])]
    names = [choice.removeprefix(REFERENCE) for choice in choices if choice]
    kinds = f" Their data is JSON: {', '.join(names)}." if names else ""
    return {"type": "string", "description": f"Server-sent events.{kinds}", "x-event-data": data}


def _ask_for_tokens(document: dict[str, Any]) -> None:
    scheme = {"type": "http", "scheme": "bearer", "description": "A token of the server."}
    document["components"]["securitySchemes"] = {"token": scheme}
    document["security"] = [{"token": []}]
    for path in OPEN_PATHS & document["paths"].keys():
        for operation in document["paths"][path].values():
            operation["security"] = []
