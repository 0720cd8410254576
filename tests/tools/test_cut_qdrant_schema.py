"""The excerpt of Qdrant's OpenAPI document."""

import json
from typing import Any

import pytest
from cut_qdrant_schema import CALLS, LEFT_OUT, cut, translate, write
from qdrant_schema import FOLDER, VERSIONS

FILTER = {"$ref": "#/components/schemas/Filter"}
GEO = {"$ref": "#/components/schemas/GeoRadius"}
MOST = 2**64 - 1


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (FILTER, {"$ref": "#/$defs/Filter"}),
        (GEO, None),
        ({"nullable": True}, {"type": "null"}),
        ({"type": "string", "nullable": True}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"type": "string", "format": "uuid"}, {"type": "string", "format": "uuid"}),
        ({"type": "number", "format": "float", "example": 0.5}, {"type": "number"}),
        (
            {"type": "integer", "format": "uint", "minimum": 1},
            {"type": "integer", "minimum": 1, "maximum": MOST},
        ),
        (
            {"type": "integer", "format": "uint", "maximum": 7},
            {"type": "integer", "minimum": 0, "maximum": 7},
        ),
        ({"anyOf": [FILTER, GEO]}, {"anyOf": [{"$ref": "#/$defs/Filter"}]}),
        ({"anyOf": [GEO, {"nullable": True}]}, None),
        ({"type": "array", "items": GEO}, None),
        (
            {"type": "array", "items": FILTER},
            {"type": "array", "items": {"$ref": "#/$defs/Filter"}},
        ),
        (
            {"type": "object", "properties": {"a": FILTER, "b": GEO}, "description": "What it is"},
            {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/Filter"}},
                "additionalProperties": False,
            },
        ),
        (
            {"type": "object", "additionalProperties": True},
            {"type": "object", "additionalProperties": True},
        ),
    ],
)
def test_schemas_are_translated(said: dict[str, Any], meant: object) -> None:
    assert translate(said) == meant


def test_calls_include_the_schemas_they_refer_to() -> None:
    def content(schema: dict[str, Any]) -> dict[str, Any]:
        return {"content": {"application/json": {"schema": schema}}}

    limit = {"name": "timeout", "in": "query", "required": True, "schema": {"type": "integer"}}
    name = {"name": "collection_name", "in": "path", "schema": {"type": "string"}}
    operation = {
        "parameters": [name, limit],
        "requestBody": content(FILTER),
        "responses": {"200": content({"type": "boolean"})},
    }
    paths: dict[str, Any] = {}
    for call in CALLS:
        method, path = call.split(" ")
        paths.setdefault(path, {})[method] = operation
    schemas = {
        "Filter": {"type": "object", "properties": {"must": {"type": "array", "items": FILTER}}},
        "ErrorResponse": {"type": "object", "properties": {"time": {"type": "number"}}},
        "Unused": {"type": "string"},
    }
    found = cut({"info": {"version": "v9"}, "paths": paths, "components": {"schemas": schemas}})
    assert found["version"] == "v9"
    assert "redoc/v9/openapi.json" in found["$comment"]
    assert len(found["calls"]) == len(CALLS)
    assert found["calls"]["GET /"] == {
        "query": {
            "type": "object",
            "properties": {"timeout": {"type": "integer"}},
            "required": ["timeout"],
            "additionalProperties": False,
        },
        "body": {"$ref": "#/$defs/Filter"},
        "answer": {"type": "boolean"},
    }
    assert list(found["$defs"]) == ["ErrorResponse", "Filter"]
    assert json.loads(write(found)) == found


@pytest.mark.parametrize("version", VERSIONS)
def test_fixtures_have_the_form_that_the_tool_writes(version: str) -> None:
    """Checks what does not need the whole document."""
    written = (FOLDER / f"{version}.json").read_text(encoding="utf-8")
    kept = json.loads(written)
    assert write(kept) + "\n" == written
    assert kept["version"] == f"{version}.x"
    assert "Apache License, Version 2.0" in kept["$comment"]
    assert {call.lower() for call in kept["calls"]} == {call.lower() for call in CALLS}
    assert not kept["$defs"].keys() & LEFT_OUT
