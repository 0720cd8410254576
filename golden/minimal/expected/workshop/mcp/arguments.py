"""Parses the arguments of a tool call leniently, as language models send them.

Objects, lists and numbers may be sent as JSON in a string, and missing values as null or "".
Ambiguous values are rejected with advice on what to send instead. Pydantic is imported only for
arguments that are not plainly valid, since importing it takes longer than a search.
"""

import re
from collections.abc import Mapping
from typing import Any

from ..errors import InvalidRequestError
from ..json_text import format_json
from ..retrieval.filters import read_pairs
from .messages import read_json

_ABSENT = (None, "", "null")
_EXAMPLE = 'an object, such as {"source": "handbook", "tags": ["pump"]}'


class RefusedCallError(Exception):
    """A tool call whose arguments the model can correct."""


def read_arguments(tool: str, schema: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call, with defaults for missing ones.

    Raises RefusedCallError and InvalidRequestError.
    """
    properties, required = schema["properties"], schema.get("required", ())
    values = {}
    for name, value in sent.items():
        described = properties.get(name)
        if described is not None and not _is_text(described):
            value = _read(value)
        # Keep missing required arguments, so that the error names them.
        if described is None or name in required or value not in _ABSENT:
            values[name] = value
    if values.get("filters") is not None:
        values["filters"] = _read_filters(values["filters"])
    if all(name in values for name in required) and all(
        name in properties and _is_plain(name, value, properties[name])
        for name, value in values.items()
    ):
        # The schema omits defaults of None.
        return {name: each.get("default") for name, each in properties.items()} | values
    return _validate(tool, values)


def _is_text(described: Mapping[str, Any]) -> bool:
    return described.get("type") == "string" and "enum" not in described


def _is_plain(name: str, value: Any, described: Mapping[str, Any]) -> bool:
    """Return whether a value is certainly valid as it is, so that pydantic is not needed."""
    if name == "filters":
        return isinstance(value, dict)
    match described:
        case {"enum": allowed}:
            return isinstance(value, str) and value in allowed
        case {"type": "string"}:
            # Surrounding white space may have to be stripped.
            return (
                isinstance(value, str)
                and value == value.strip()
                and described.get("minLength", 0) <= len(value) <= described.get("maxLength", 0)
                and re.search(described.get("pattern", ""), value) is not None
            )
        case {"type": "integer", "minimum": least, "maximum": most}:
            return type(value) is int and bool(least <= value <= most)
    return False


def _validate(tool: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments as validated by the tool's model, or raise its errors."""
    from pydantic import ValidationError

    from .models import MODELS

    try:
        return dict(MODELS[tool].model_validate(values))
    except ValidationError as error:
        found = [(".".join(map(str, one["loc"])), one["msg"]) for one in error.errors()]
    raise RefusedCallError("; ".join(f"{at}: {said[:1].lower()}{said[1:]}" for at, said in found))


def _read(value: object) -> object:
    """Parse a string that is JSON; strip any other string, and return other values unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return _read(read_json(value))
    except ValueError:
        return value.strip()


def _read_filters(sent: object) -> dict[str, object]:
    """Return filters as an object of strings and lists of strings, where the meaning is clear."""
    try:
        pairs = [sent] if isinstance(sent, str) else sent
        if isinstance(pairs, list) and all(isinstance(pair, str) for pair in pairs):
            return {**read_pairs(pairs)}
    except InvalidRequestError:
        pass
    if not isinstance(sent, dict):
        raise InvalidRequestError(f"must be {_EXAMPLE}", field="filters")
    return {str(name): _read_values(value) for name, value in sent.items()}


def _read_values(value: object) -> object:
    """Return a filter's values, numbers as strings; a list may be sent as JSON. None if absent."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", '"'):
        value = _read(value)
    if isinstance(value, list):
        return [each for one in value for each in _to_list(_read_values(one))]
    if isinstance(value, bool | int | float):
        return format_json(value)
    return None if isinstance(value, str) and value.strip() in _ABSENT else value


def _to_list(value: object) -> list[object]:
    return [] if value is None else value if isinstance(value, list) else [value]
