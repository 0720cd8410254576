"""YAML front matter: what stands between two `---` lines at the start of a document."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import yaml

from foundry.readers.dates import normalise_date

MAX_CHARS = 65_536
MAX_DEPTH = 20
MAX_TAGS = 100
MAX_ALIASES = 100
_OPENING = re.compile(r"---[ \t]*\n")
_FIRST_KEY = re.compile(r"(?:[ \t]*#.*\n|[ \t]*\n)*[\"']?[\w][\w .-]{0,100}+[\"']?[ \t]*:")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$\n?", re.MULTILINE)
_MODIFIED_KEYS = ("modified", "updated", "last_modified", "last_updated", "lastmod", "date")
_ABSENT = frozenset({"", "~", "null", "Null", "NULL"})
# Scalars stay the strings that were written, and no tag makes an object.
_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """`length` counts the characters of the block, its two marker lines included; 0 for none.

    `is_readable` tells whether the block is data and so no part of the content.
    """

    length: int = 0
    is_readable: bool = False
    title: str | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    modified: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)

    def metadata(self) -> dict[str, str]:
        """Return every value that is text, or a list of texts, which are joined by commas."""
        found = {}
        for name, value in self.values.items():
            texts = [_to_string(part) for part in (value if isinstance(value, list) else [value])]
            if isinstance(name, str) and texts and all(texts):
                found[name] = ", ".join(text for text in texts if text)
        return found


def read_front_matter(text: str) -> FrontMatter:
    """Find and read the block at the start of `text`.

    A block that is no mapping, is too large or too deep, or uses aliases or explicit tags is not
    readable: it stays part of the content.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return FrontMatter()
    closing = _CLOSING.search(text, opening.end(), opening.end() + MAX_CHARS)
    if closing is None:
        return FrontMatter()
    values = _load(text[opening.end() : closing.start()])
    if values is None:
        # Two rules with text between them are no front matter at all.
        has_keys = _FIRST_KEY.match(text, opening.end(), closing.start())
        return FrontMatter(length=closing.end() if has_keys else 0)
    return FrontMatter(
        length=closing.end(),
        is_readable=True,
        title=_to_string(values.get("title")),
        tags=_to_tags(values),
        aliases=_to_aliases(values),
        modified=_find_modified(values),
        values=values,
    )


def _load(block: str) -> dict[str, Any] | None:
    try:
        depth = 0
        for event in yaml.parse(block, Loader=_Loader):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None):
                return None
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                return None
        values = yaml.load(block, Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if values in (None, ""):
        return {}
    return values if isinstance(values, dict) else None


def _to_string(value: Any) -> str | None:
    return value if isinstance(value, str) and value not in _ABSENT else None


def _to_tags(values: Mapping[str, Any]) -> tuple[str, ...]:
    tags: list[str] = []
    for key in ("tags", "keywords"):
        value = values.get(key)
        if isinstance(value, str):
            value = value.replace(";", ",").split(",")
        if isinstance(value, list):
            tags += [tag.strip().lstrip("#") for tag in value if _to_string(tag)]
    return tuple(tag for tag in tags[:MAX_TAGS] if tag)


def _to_aliases(values: Mapping[str, Any]) -> tuple[str, ...]:
    aliases: list[str] = []
    for key in ("aliases", "alias"):
        value = values.get(key)
        # A name may have a comma in it.
        found = value if isinstance(value, list) else [value]
        aliases += [(_to_string(alias) or "").strip() for alias in found]
    return tuple(alias for alias in aliases if alias)[:MAX_ALIASES]


def _find_modified(values: Mapping[str, Any]) -> str | None:
    for key in _MODIFIED_KEYS:
        found = normalise_date(_to_string(values.get(key)))
        if found:
            return found
    # Microsoft's publishing system writes this one month first.
    try:
        return datetime.strptime(str(values.get("ms.date")), "%m/%d/%Y").date().isoformat()
    except ValueError:
        return None
