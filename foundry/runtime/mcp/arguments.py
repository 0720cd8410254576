"""Parses the arguments of a tool call, leniently, as language models send them.

Objects, lists and numbers may be sent as JSON in a string, and missing values as null or "". What
could also mean something else is refused, with what to send instead.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic_core import from_json, to_json

from ..errors import InvalidRequestError
from ..retrieval.filters import read_pairs
from ..web.requests import RequestModel

_ABSENT = (None, "", "null")
_EXAMPLE = 'an object, such as {"source": "handbook", "tags": ["pump"]}'

Request = TypeVar("Request", bound=RequestModel)


def read_arguments(kind: type[Request], sent: Mapping[str, Any]) -> Request:
    """Return the arguments of a tool call. Raises ValidationError and InvalidRequestError."""
    values = {}
    for name, value in sent.items():
        field = kind.model_fields.get(name)
        if field is not None and field.annotation is not str:
            value = _read(value)
        # Required arguments that are missing get an error by name.
        if field is None or field.is_required() or value not in _ABSENT:
            values[name] = value
    if values.get("filters") is not None:
        values["filters"] = _read_filters(values["filters"])
    return kind.model_validate(values)


def _read(value: object) -> object:
    """Parse a string that is JSON; return any other value as it is."""
    if not isinstance(value, str):
        return value
    try:
        return _read(from_json(value, allow_inf_nan=False))
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
    """Return the values of a filter as strings; a list may be sent as a string."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", '"'):
        value = _read(value)
    if isinstance(value, list):
        return [each for one in value for each in _to_list(_read_values(one))]
    if isinstance(value, bool | int | float):
        return to_json(value).decode()
    return None if isinstance(value, str) and value.strip() in _ABSENT else value


def _to_list(value: object) -> list[object]:
    return [] if value is None else value if isinstance(value, list) else [value]
