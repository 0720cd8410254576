"""Reads front matter, before a document's text: YAML between `---`, TOML between `+++`, or JSON.

Pandoc's lines of title, authors and date (`% Title`) are read too.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

import yaml

from foundry.readers.dates import normalise_date

MAX_CHARS = 65_536
MAX_DEPTH = 20
MAX_NAMES = 100
"""Maximum number of tags, and of aliases, kept per document."""
_OPENING = re.compile(r"(?:---|;;;|\+\+\+)[ \t]*\n")
_CLOSINGS = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*$\n?", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*$\n?", re.MULTILINE),
    ";;;": re.compile(r"^;;;[ \t]*$\n?", re.MULTILINE),
}
# Hexo does not need a marker before the first key.
_UNOPENED = re.compile(
    r"(?=(?:.*\n){0,9}?title:)(?=(?:.*\n){0,9}?date:)(?:title|date|layout|tags|categories):.*\n"
    r"(?:[\w-]+:.*\n|[ \t]+.*\n|-[ \t].*\n){1,60}---[ \t]*(?:\n|$)"
)
_PANDOC = re.compile(
    r"%[ \t]+(?P<title>\S.*(?:\n[ \t]+\S.*){0,5})\n(?:%(?P<author>.*(?:\n[ \t]+\S.*){0,20})\n"
    r"(?:%[ \t]*(?P<date>.*)\n)?)?(?=[ \t]*\n)"
)
_MANUAL_TITLE = re.compile(r"[\w.-]+[ (]\d\w*\b")
_MAIN_HEADING = re.compile(r"^# |^=+[ \t]*$", re.MULTILINE)
_SUBSTITUTION = re.compile(r"\{\{[ \t]*([\w-]{1,100})[ \t]*\}\}")
_JSON_OPENING = re.compile(r"\{\s*\"")
_FIRST_KEY = re.compile(r"(?:[ \t]*#.*\n|[ \t]*\n)*[\"']?[\w][\w .-]{0,100}+[\"']?[ \t]*:")
_MODIFIED_KEYS = (
    *("modified", "updated", "last_modified", "last_modified_at", "last_updated", "last_update"),
    *("lastmod", "lastUpdated", "updated_at", "updatedAt", "dateModified", "date_modified"),
    *("updatedDate", "updateDate", "modDatetime"),
    *("date-modified", "date", "pubDate", "published", "publishDate", "publishdate", "created"),
)
"""Keys for dates of change, then of publication, in Hugo, Jekyll, Docusaurus, Astro and others."""
_ABSENT = frozenset({"", "~", "null", "Null", "NULL"})
YAML_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Scalars stay strings as written, and tags create no objects."""


def read_front_matter(text: str) -> tuple[int, dict[str, Any] | None]:
    """Return the length of the front matter, markers included, and its values.

    A block that is not a mapping, is too large or too deep, or uses aliases or explicit tags yields
    no values: it stays part of the content. Without a block, the length is 0.
    """
    if _JSON_OPENING.match(text):
        return _read_json(text)
    if unopened := _UNOPENED.match(text):
        values = _load(unopened[0].rstrip("- \t\n"))
        return (unopened.end(), values) if values else (0, None)
    if (lines := _PANDOC.match(text)) and _is_title(lines, text):
        stated = {
            key: " ".join(value.split()) for key, value in lines.groupdict(default="").items()
        }
        return lines.end(), {key: value for key, value in stated.items() if value}
    opening = _OPENING.match(text)
    if not opening:
        return 0, None
    mark = text[:3]
    closing = _CLOSINGS[mark].search(text, opening.end(), opening.end() + MAX_CHARS)
    if not closing:
        return 0, None
    block = text[opening.end() : closing.start()]
    values = {"---": _load, "+++": _load_toml, ";;;": _load_json}[mark](block)
    if values is None and (mark != "---" or not _FIRST_KEY.match(block)):
        # Two rules with text between them are not front matter.
        return 0, None
    return closing.end(), values


def _is_title(lines: re.Match[str], text: str) -> bool:
    """Return whether lines after `%` name a document; in MyST, such lines are comments."""
    is_dated = normalise_date(lines["date"] or "") is not None
    is_manual = _MANUAL_TITLE.match(lines["title"]) is not None
    return is_dated or is_manual or not _MAIN_HEADING.search(text, lines.end())


def substitute(text: str, values: Mapping[str, Any]) -> str:
    """Return a text with the substitutions of MyST that the front matter defines."""
    settings = values.get("myst")
    defined = (settings if isinstance(settings, dict) else values).get("substitutions")
    if not isinstance(defined, dict):
        return text
    return _SUBSTITUTION.sub(lambda match: _line(defined.get(match[1])) or match[0], text)


def _read_json(text: str) -> tuple[int, dict[str, Any] | None]:
    """Return length and values of a JSON object above an empty line; 0 and None without one."""
    block, gap, _ = text[:MAX_CHARS].partition("\n\n")
    while gap:
        values = _load_json(block)
        if values is not None:
            return len(block) + len(gap), values
        more, gap, _ = text[len(block) + 2 : MAX_CHARS].partition("\n\n")
        block = f"{block}\n\n{more}"
        if block.count("\n\n") > MAX_DEPTH:
            break
    return 0, None


def _load_json(block: str) -> dict[str, Any] | None:
    try:
        values = json.loads(block)
    except (ValueError, RecursionError):
        return None
    return _as_written(values) if isinstance(values, dict) else None


def _load_toml(block: str) -> dict[str, Any] | None:
    try:
        return _as_written(tomllib.loads(block))
    except (ValueError, RecursionError):
        return None


def _as_written(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with scalars as YAML would write them."""
    return {str(name): _scalar(value) for name, value in values.items()}


def _scalar(value: Any) -> Any:
    if isinstance(value, dict):
        return _as_written(value)
    if isinstance(value, list):
        return [_scalar(each) for each in value]
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date):
        return value.isoformat()
    return "" if value is None else str(value)


def describe(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a Reading that front matter has, except tags and title."""
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
    """Return the title in front matter, if there is one."""
    title = values.get("title")
    return title if isinstance(title, str) and _is_text(title) else None


def find_shown(values: Mapping[str, Any]) -> str:
    """Return what pages show of front matter, each text on one line.

    Quarto and Pandoc print subtitle and abstract; VitePress, VuePress and Starlight make home pages
    of `hero` and `features`.
    """
    hero = values.get("hero")
    hero = hero if isinstance(hero, dict) else {}
    names = [hero.get("name") or hero.get("title"), values.get("heroText")]
    texts = [values.get("subtitle"), values.get("abstract"), hero.get("text"), hero.get("tagline")]
    if values.get("home"):
        texts.append(values.get("tagline"))
    features = values.get("features")
    for feature in features if isinstance(features, list) else ():
        if isinstance(feature, dict):
            title, details = (_line(feature.get(name)) for name in ("title", "details"))
            texts.append(f"**{title}** {details}" if title else details)
    said = [*(f"# {_line(name)}" for name in names if _line(name)), *map(_line, texts)]
    return "".join(f"{text}\n\n" for text in said if text)


def _line(value: Any) -> str:
    """Return a text on one line; "" for any other value."""
    return " ".join(value.split()) if isinstance(value, str) and _is_text(value) else ""


def find_tags(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return tags and keywords; a single string is split at commas and semicolons."""
    parts = {key: value for key, value in values.items() if key in {"tags", "keywords"}}
    for key, value in parts.items():
        if isinstance(value, str):
            parts[key] = value.replace(";", ",").split(",")
    names = (name.lstrip("#") for name in _names(parts, "tags", "keywords"))
    return tuple(filter(None, names))[:MAX_NAMES]


def _names(values: Mapping[str, Any], *keys: str) -> Iterator[str]:
    for key in keys:
        value = values.get(key)
        # A name may contain a comma.
        for name in value if isinstance(value, list) else [value]:
            if isinstance(name, str) and _is_text(name) and name.strip():
                yield name.strip()


def _is_text(value: Any) -> bool:
    """Return whether a value is a string or a list of strings, none of them empty or null."""
    texts = value if isinstance(value, list) else [value]
    return all(isinstance(text, str) and text not in _ABSENT for text in texts)


def _find_modified(values: Mapping[str, Any]) -> str | None:
    for key in _MODIFIED_KEYS:
        value = values.get(key)
        # Docusaurus has `last_update: {date: ..., author: ...}`.
        nested = value if isinstance(value, dict) else values
        name = "date" if nested is value else key
        if found := normalise_date(next(_names(nested, name), None)):
            return found
    # `ms.date`, and some dates of `last_update`, are written month first.
    changed = values.get("last_update")
    stated = changed.get("date") if isinstance(changed, dict) else None
    for value in (stated, values.get("ms.date")):
        try:
            return datetime.strptime(str(value), "%m/%d/%Y").date().isoformat()
        except ValueError:
            continue
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
