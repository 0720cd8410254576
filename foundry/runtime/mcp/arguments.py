"""Reads the arguments of a tool as language models send them.

Objects, lists and numbers often come as JSON in a text, and what is left out as null or as an empty
text. What can be taken for something else than the schema says is refused, with what to send.
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
    """Return the arguments of a tool. Raises ValidationError and InvalidRequestError."""
    values = {}
    for name, value in sent.items():
        field = kind.model_fields.get(name)
        if field is not None and field.annotation is not str:
            value = _read(value)
        # A required one that is missing is refused by its name.
        if field is None or field.is_required() or value not in _ABSENT:
            values[name] = value
    if values.get("filters") is not None:
        values["filters"] = _read_filters(values["filters"])
    return kind.model_validate(values)


def _read(value: object) -> object:
    """Return what a text says as JSON; any other value, and any other text, as it is."""
    if not isinstance(value, str):
        return value
    try:
        return _read(from_json(value, allow_inf_nan=False))
    except ValueError:
        return value.strip()


def _read_filters(sent: object) -> dict[str, object]:
    """Return filters as an object with texts and lists of texts, as far as they are meant so."""
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
    """Return the values of a filter as texts, also those of a list that is sent as a text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", '"'):
        value = _read(value)
    if isinstance(value, list):
        return [each for one in value for each in _to_list(_read_values(one))]
    if isinstance(value, bool | int | float):
        return to_json(value).decode()
    return None if isinstance(value, str) and value.strip() in _ABSENT else value


def _to_list(value: object) -> list[object]:
    return [] if value is None else value if isinstance(value, list) else [value]
