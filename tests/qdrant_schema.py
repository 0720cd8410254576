"""Checks our requests to Qdrant, and their responses, against Qdrant's OpenAPI document.

`tests/fixtures/qdrant/` has the excerpts by `tools/cut_qdrant_schema.py` for the oldest version of
Qdrant that Foundry supports, and for the newest one with a published document.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, unquote

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import extend

FOLDER = Path(__file__).parent / "fixtures/qdrant"
VERSIONS = ("v1.16", "v1.19")
NEWEST = VERSIONS[-1]


def _is_integer(_checker: object, value: object) -> bool:
    """Return whether a value is an integer; unlike JSON Schema, Qdrant does not accept 2.0."""
    return isinstance(value, int) and not isinstance(value, bool)


def _shape(value: Any) -> object:
    """Return a key that is equal for values of the same types, signs and field names."""
    if isinstance(value, dict):
        return tuple((key, _shape(each)) for key, each in value.items())
    if isinstance(value, list):
        return frozenset(map(_shape, value))
    return type(value), type(value) in (int, float) and value < 0


def _items(validator: Any, schema: Any, value: Any, _whole: Any) -> Iterator[ValidationError]:
    # One item of each shape is checked; all the numbers of a vector would take most of the time.
    if isinstance(value, list):
        places = {_shape(each): place for place, each in reversed([*enumerate(value)])}
        for place in places.values():
            yield from validator.descend(value[place], schema, path=place)


_Validator = extend(
    Draft202012Validator,
    {"items": _items},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its response; `target` is the path with the query as sent.

    The bodies are parsed JSON, or None if there were none.
    """

    method: str
    target: str
    asked: Any
    status: int
    answered: Any


class Calls:
    """The endpoints of one version of Qdrant."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._calls: dict[str, Any] = document["calls"]
        self._defined = {"$defs": document["$defs"]}
        self._patterns = [
            (re.compile(re.sub(r"\{\w+\}", "([^/]+)", call)), call) for call in self._calls
        ]
        self._validators: dict[str, Any] = {}
        self._faultless: set[object] = set()

    @classmethod
    @cache
    def of(cls, version: str = NEWEST, *, is_strict: bool = True) -> Self:
        """Read the endpoints of a version; unless `is_strict`, unknown fields are allowed."""
        document = json.loads((FOLDER / f"{version}.json").read_text(encoding="utf-8"))
        return cls(document if is_strict else _opened(document))

    def name(self, exchange: Exchange) -> str | None:
        """Return the endpoint's name in the document, or None if it has none."""
        path = exchange.target.partition("?")[0]
        asked = f"{exchange.method} {path}"
        return next((call for pattern, call in self._patterns if pattern.fullmatch(asked)), None)

    def faults(self, exchange: Exchange) -> list[str]:
        """Return the differences between an exchange and the document, each with its place."""
        call = self.name(exchange)
        if call is None:
            return [f"{exchange.method} {exchange.target}: there is no such call"]
        query, parts = exchange.target.partition("?")[2], (exchange.asked, exchange.answered)
        alike = call, query, exchange.status, *map(_shape, parts)
        if alike in self._faultless:
            return []
        if not (found := [f"{call}: {fault}" for fault in self._in(call, exchange)]):
            self._faultless.add(alike)
        return found

    def _in(self, call: str, exchange: Exchange) -> Iterator[str]:
        query = dict(parse_qsl(exchange.target.partition("?")[2], keep_blank_values=True))
        asked = {name: _read(unquote(value)) for name, value in query.items()}
        yield from self._compare(f"{call} query", self._calls[call]["query"], asked)
        body = self._calls[call]["body"]
        if body is not None:
            yield from self._compare(f"{call} body", body, exchange.asked)
        elif exchange.asked is not None:
            yield "body: there is to be none"
        if exchange.status == 200:
            answer = self._calls[call]["answer"]
            yield from self._compare(f"{call} answer", answer, exchange.answered)
        else:
            error = {"$ref": "#/$defs/ErrorResponse"}
            yield from self._compare("error", error, exchange.answered)

    def _compare(self, name: str, schema: dict[str, Any], value: Any) -> Iterator[str]:
        if name not in self._validators:
            whole = {**schema, **self._defined}
            self._validators[name] = _Validator(whole, format_checker=FormatChecker(["uuid"]))
        error: ValidationError
        for error in self._validators[name].iter_errors(value):
            part = name.rpartition(" ")[2]
            deepest = best_match([error]) or error
            yield f"{part}{deepest.json_path[1:]}: {deepest.message}"


def _opened(schema: Any) -> Any:
    """Return a schema that allows unknown fields."""
    if isinstance(schema, list):
        return [_opened(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _opened(each) for key, each in schema.items() if each is not False}


def _read(written: str) -> Any:
    """Parse a value of a query string."""
    if written in ("true", "false"):
        return written == "true"
    return int(written) if re.fullmatch("-?[0-9]+", written) else written
