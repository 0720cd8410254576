"""Describes the problems of a foundry.toml: key paths, and the values allowed there."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from foundry.config.file import ConfigFile
from foundry.config.sources import SOURCES
from foundry.features.stores import WHERE_ADDRESSES_ARE


def describe(details: Sequence[ErrorDetails]) -> list[str]:
    """Return each problem with the key path of its value."""
    places = [detail["loc"] for detail in details]
    return [
        _describe(detail)
        for detail in details
        # A list whose items are all invalid is also reported as too short.
        if detail["type"] != "too_short"
        or not any(place[: len(detail["loc"])] == detail["loc"] != place for place in places)
    ]


def _describe(detail: ErrorDetails) -> str:
    parts = detail["loc"]
    # After a source's number, Pydantic puts its type, which is not a key of the file.
    parts = parts[:2] + parts[3:] if parts[0] == "sources" else parts
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    key = key.lstrip(".")
    # Pydantic reports TOML arrays as tuples.
    kind, message = detail["type"], re.sub("(?i)tuple", "list", detail["msg"])
    if kind == "extra_forbidden":
        known = _known_keys(detail["loc"])
        near = get_close_matches(str(parts[-1]), known, n=1)
        meant = f"did you mean {near[0]!r}? Known" if near else "known"
        message = f"unknown key; {meant} here: {', '.join(known)}"
        if parts[0] == "store":
            message += f"; {WHERE_ADDRESSES_ARE}"
        elif parts[-1] == "allow_private":
            message = "a project may not allow this; pass --allow-private HOST to the command"
    elif kind == "missing":
        message = "required, but missing"
    elif kind in {"union_tag_not_found", "union_tag_invalid"}:
        key, message = f"{key}.type", f"must be one of {', '.join(map(repr, SOURCES))}"
    elif kind == "value_error":
        # Foundry's own messages never quote secrets.
        message = str(detail["ctx"]["error"])
    elif parts[0] == "store" and "://" in str(detail["input"]):
        # The value is not quoted, since it may contain a password.
        message = f"must be a name; {WHERE_ADDRESSES_ARE}"
    elif "input" in detail and not isinstance(detail["input"], (dict, list)):
        text = repr(detail["input"])
        text = text if len(text) <= 200 else f"{text[:200]}..."
        message = f"{message[0].lower()}{message[1:]}, got {text}"
    return f"{key}: {message}"


def _known_keys(location: tuple[int | str, ...]) -> list[str]:
    """Return the keys that the table around a location may have."""
    table: type[BaseModel] = ConfigFile
    for part in location[:-1]:
        if part in SOURCES:
            table = SOURCES[str(part)]
        elif field := table.model_fields.get(str(part)):
            table = _find_table(field.annotation) or table
    return list(table.model_fields)


def _find_table(annotation: Any) -> type[BaseModel] | None:
    """Return the model of a table in a field's type, even within a list or an optional type.

    Returns None for other types.
    """
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_find_table, get_args(annotation))), None)
