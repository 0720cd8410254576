"""YAML front matter: the text between two `---` lines at the start of a document."""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import yaml

from foundry.readers.dates import normalise_date

MAX_CHARS = 65_536
MAX_DEPTH = 20
MAX_NAMES = 100
"""Tags, and aliases, kept for one document."""
_OPENING = re.compile(r"---[ \t]*\n")
_FIRST_KEY = re.compile(r"(?:[ \t]*#.*\n|[ \t]*\n)*[\"']?[\w][\w .-]{0,100}+[\"']?[ \t]*:")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$\n?", re.MULTILINE)
_MODIFIED_KEYS = ("modified", "updated", "last_modified", "last_updated", "lastmod", "date")
_ABSENT = frozenset({"", "~", "null", "Null", "NULL"})
YAML_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Scalars stay the strings that were written, and no tag makes an object."""


def read_front_matter(text: str) -> tuple[int, dict[str, Any] | None]:
    """Return how long the block at the start of a text is, markers included, and its values.

    A block that is no mapping, is too large or too deep, or uses aliases or explicit tags has no
    values: it stays part of the content. Without a block the length is 0.
    """
    opening = _OPENING.match(text)
    closing = opening and _CLOSING.search(text, opening.end(), opening.end() + MAX_CHARS)
    if not opening or not closing:
        return 0, None
    values = _load(text[opening.end() : closing.start()])
    if values is None and not _FIRST_KEY.match(text, opening.end(), closing.start()):
        # Two rules with text between them are no front matter at all.
        return 0, None
    return closing.end(), values


def describe(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a Reading that front matter states, its tags and title aside."""
    return {
        "aliases": tuple(_names(values, "aliases", "alias"))[:MAX_NAMES],
        "modified": _find_modified(values),
        "metadata": {
            name: ", ".join(value if isinstance(value, list) else [value])
            for name, value in values.items()
            if isinstance(name, str) and value and _is_text(value)
        },
    }


def find_title(values: Mapping[str, Any]) -> str | None:
    """Return the title that front matter states."""
    title = values.get("title")
    return title if isinstance(title, str) and _is_text(title) else None


def find_tags(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return tags and keywords; in one string, commas and semicolons separate them."""
    parts = {key: value for key, value in values.items() if key in {"tags", "keywords"}}
    for key, value in parts.items():
        if isinstance(value, str):
            parts[key] = value.replace(";", ",").split(",")
    names = (name.lstrip("#") for name in _names(parts, "tags", "keywords"))
    return tuple(filter(None, names))[:MAX_NAMES]


def _names(values: Mapping[str, Any], *keys: str) -> Iterator[str]:
    for key in keys:
        value = values.get(key)
        # A name may have a comma in it.
        for name in value if isinstance(value, list) else [value]:
            if isinstance(name, str) and _is_text(name) and name.strip():
                yield name.strip()


def _is_text(value: Any) -> bool:
    """Return whether a value is text, or a list of texts."""
    texts = value if isinstance(value, list) else [value]
    return all(isinstance(text, str) and text not in _ABSENT for text in texts)


def _find_modified(values: Mapping[str, Any]) -> str | None:
    dates = (normalise_date(next(_names(values, key), None)) for key in _MODIFIED_KEYS)
    if found := next(filter(None, dates), None):
        return found
    # Microsoft's publishing system writes this one month first.
    try:
        return datetime.strptime(str(values.get("ms.date")), "%m/%d/%Y").date().isoformat()
    except ValueError:
        return None


def _load(block: str) -> dict[str, Any] | None:
    try:
        depth = 0
        for event in yaml.parse(block, Loader=YAML_LOADER):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None):
                return None
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                return None
        values = yaml.load(block, Loader=YAML_LOADER)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if values in (None, ""):
        return {}
    return values if isinstance(values, dict) else None
