"""Extracts the calls that Foundry uses from Qdrant's OpenAPI document.

    python tools/cut_qdrant_schema.py openapi.json > tests/fixtures/qdrant/v1.19.x.json

The document of each version is in Qdrant's repository, as `docs/redoc/<version>/openapi.json`. The
result has a JSON Schema for the query, the body and the response of each call, without
descriptions, without unused schemas (`LEFT_OUT`), and without unknown fields.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCE = "https://github.com/qdrant/qdrant/blob/master/docs/redoc/{}/openapi.json"
NOTICE = (
    "Cut from {}, which its authors license under the Apache License, Version 2.0. Changed by"
    " tools/cut_qdrant_schema.py: most calls and schemas, and all descriptions, were left out; what"
    " remains was translated into JSON Schema, and allows no unknown fields."
)

_ONE = "/collections/{collection_name}"
CALLS = (
    "get /",
    "get /aliases",
    "get /collections",
    "post /collections/aliases",
    f"get {_ONE}",
    f"put {_ONE}",
    f"patch {_ONE}",
    f"delete {_ONE}",
    f"get {_ONE}/exists",
    f"put {_ONE}/index",
    f"put {_ONE}/points",
    f"post {_ONE}/points",
    f"post {_ONE}/points/count",
    f"post {_ONE}/points/delete",
    f"post {_ONE}/points/payload",
    f"post {_ONE}/points/payload/delete",
    f"post {_ONE}/points/query/batch",
    f"post {_ONE}/points/scroll",
)

LEFT_OUT = frozenset(
    "Batch Document Image InferenceObject PointsBatch MultiVectorConfig"
    " GeoBoundingBox GeoPolygon GeoRadius ValuesCount MinShould DatetimeRange"
    " IsEmptyCondition IsNullCondition HasVectorCondition SliceCondition NestedCondition"
    " MatchText MatchTextAny MatchPhrase MatchPrefix MatchExcept"
    " Prefetch LookupLocation OrderByInterface RecommendQuery DiscoverQuery ContextQuery"
    " OrderByQuery FusionQuery RrfQuery FormulaQuery SampleQuery RelevanceFeedbackQuery Mmr"
    " QuantizationSearchParams QuantizationConfig QuantizationConfigDiff IdfParams"
    " FloatIndexParams GeoIndexParams TextIndexParams BoolIndexParams DatetimeIndexParams"
    " UuidIndexParams ShardKeySelector ShardKey ShardingMethod"
    " StrictModeConfig StrictModeConfigOutput OptimizersConfigDiff WalConfigDiff"
    " VectorsConfigDiff CollectionParamsDiff RenameAliasOperation HardwareUsage"
    " InferenceUsage".split()
)
"""Schemas that Foundry does not use, with the fields and alternatives that contain them."""

LIMITS = {
    "uint8": (0, 2**8 - 1),
    "uint": (0, 2**64 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
"""The smallest and the largest integer of a format."""

WIDTH = 200
"""Maximum line length of the result."""

_DROPPED = {"default", "deprecated", "description", "example", "format", "nullable", "title"}
_NULL = {"type": "null"}


def cut(document: dict[str, Any]) -> dict[str, Any]:
    """Return the schemas of the calls, and all schemas that they refer to."""
    version = document["info"]["version"]
    schemas = document["components"]["schemas"]
    calls: dict[str, Any] = {}
    for call in CALLS:
        method, path = call.split(" ")
        operation = document["paths"][path][method]
        calls[f"{method.upper()} {path}"] = {
            "query": translate(_query_of(operation)),
            "body": _content(operation["requestBody"]) if "requestBody" in operation else None,
            "answer": _content(operation["responses"]["200"]),
        }
    defined: dict[str, Any] = {}
    wanted = {"ErrorResponse", *_names(calls)}
    while wanted:
        name = wanted.pop()
        defined[name] = translate(schemas[name])
        wanted |= set(_names(defined[name])) - defined.keys()
    return {
        "$comment": NOTICE.format(SOURCE.format(version)),
        "version": version,
        "calls": calls,
        "$defs": dict(sorted(defined.items())),
    }


def _query_of(operation: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with the parameters of the query string."""
    parameters = [each for each in operation.get("parameters", ()) if each["in"] == "query"]
    return {
        "type": "object",
        "properties": {each["name"]: each["schema"] for each in parameters},
        "required": [each["name"] for each in parameters if each.get("required")],
    }


def _content(described: dict[str, Any]) -> Any:
    return translate(described["content"]["application/json"]["schema"])


def translate(schema: dict[str, Any]) -> Any:
    """Convert an OpenAPI 3.0 schema to JSON Schema; None if all of it is left out."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return None if name in LEFT_OUT else {"$ref": f"#/$defs/{name}"}
    if schema.keys() - _DROPPED == set() and schema.get("nullable"):
        return _NULL
    made = {key: value for key, value in schema.items() if key not in _DROPPED}
    if limits := LIMITS.get(schema.get("format", "")):
        least, greatest = limits
        made["minimum"] = max(least, schema.get("minimum", least))
        made["maximum"] = min(greatest, schema.get("maximum", greatest))
    if schema.get("format") in ("uuid", "date-time"):
        made["format"] = schema["format"]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            made[key] = [each for each in map(translate, schema[key]) if each is not None]
            if made[key] in ([], [_NULL]):
                return None
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            made[key] = translate(schema[key])
            if made[key] is None:
                return None
    if "properties" in schema:
        fields = {name: translate(field) for name, field in schema["properties"].items()}
        made["properties"] = {name: field for name, field in fields.items() if field is not None}
        made.setdefault("additionalProperties", False)
    return {"anyOf": [made, _NULL]} if schema.get("nullable") else made


def _names(schema: Any) -> Iterator[str]:
    """Yield the names of the schemas that a schema refers to."""
    if isinstance(schema, list):
        for each in schema:
            yield from _names(each)
    elif isinstance(schema, dict):
        if isinstance(reference := schema.get("$ref"), str):
            yield reference.rpartition("/")[2]
        for each in schema.values():
            yield from _names(each)


def write(value: Any, depth: int = 0) -> str:
    """Return JSON with one line per field, and short values on one line."""
    line = json.dumps(value)
    if not isinstance(value, dict) or len(line) + depth <= WIDTH:
        return line
    fields = [f"{json.dumps(key)}: {write(field, depth + 1)}" for key, field in value.items()]
    margin = " " * (depth + 1)
    return "{\n" + margin + f",\n{margin}".join(fields) + "\n" + " " * depth + "}"


def main() -> int:
    """Print the extract of a document."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    print(write(cut(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
