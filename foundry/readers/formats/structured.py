"""Reads JSON, YAML, TOML and Java properties: the text as written, with keys as its outline."""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import accumulate

import yaml

from foundry.documents import Heading, Reading
from foundry.readers.accounting.containers import escaped_texts, json_texts
from foundry.readers.code import source as code
from foundry.readers.contract import Reader
from foundry.readers.decoding import normalise
from foundry.readers.formats.front_matter import YAML_LOADER

MAX_OUTLINED_CHARS = 2_000_000
"""A longer file is generated data, which would take long to parse."""
MAX_LEVELS = 2
MAX_DEPTH = 100
"""Maximum nesting depth, since the parser takes quadratic time in the depth of brackets."""
MAX_LINE_CHARS = 1_000
"""JSON with a longer line is reformatted, with one value per line."""

_JSON_KEY = re.compile(
    r'^([ \t]+)"((?:[^"\\\n]|\\.){1,200}+)"[ \t]*:[ \t]*([\[{][ \t]*$)?',
    re.MULTILINE,
)
# A surrogate pair or any other escape. Other escapes are matched as a whole, so that no match
# begins inside one.
_UNITS = r"(?P<units>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4})"
_JSON_ESCAPE = re.compile(rf"{_UNITS}|(?P<slash>\\/)|\\.")
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{},:]|[^\s\[\]{},:"]+')
# In TOML, text in single quotes has no escapes.
_CODES = re.compile(rf"{_UNITS}|\\U(?P<number>[0-9a-fA-F]{{8}})|\\.|(?<== )'[^'\n]*'")
_TOML_TABLE = re.compile(
    r"^\[{1,2}[ \t]*([^\[\]\n]{1,200}?)[ \t]*\]{1,2}[ \t]*(?:#.*)?$", re.MULTILINE
)
_Key = tuple[Heading, bool]
"""A key as a heading, with its level from 1, and whether its value is a collection."""


def read_json(text: str) -> Reading:
    """Read JSON; invalid JSON, or JSON too large for an outline, is read as code.

    Escaped characters and slashes are decoded.
    """
    text = _unescape(text, _JSON_ESCAPE)
    if len(text) > MAX_OUTLINED_CHARS:
        return code.read(text)
    try:
        json.loads(text)
    except ValueError:
        return code.read(text)
    if max(map(len, text.split("\n"))) > MAX_LINE_CHARS:
        text = _put_on_lines(text)
    return replace(code.read(text), headings=tuple(_headings(_json_keys(text))))


def _put_on_lines(text: str) -> str:
    """Return valid JSON with one value per line; numbers and keys stay as written."""
    parts: list[str] = []
    line = "\n"
    before = ""
    for token in _JSON_TOKEN.findall(text):
        if token in {"]", "}"}:
            line = line[:-2]
        if before in {"[", "{"}:
            parts.append("" if token in {"]", "}"} else line)
        elif before == "," or token in {"]", "}"}:
            parts.append(line)
        parts.append(": " if token == ":" else token)
        if token in {"[", "{"}:
            line += "  "
        before = token
    return "".join(parts)


def read_json_lines(text: str) -> Reading:
    """Read one value per line as written, with characters decoded as in `read_json`."""
    return code.read(_unescape(text, _JSON_ESCAPE))


def _unescape(text: str, escape: re.Pattern[str]) -> str:
    """Decode the escapes of printable characters, except those of ASCII; the text stays valid."""
    is_escaped = any(sign in text for sign in ("\\u", "\\U", "\\/"))
    return normalise(escape.sub(_character, text)) if is_escaped else text


def _character(found: re.Match[str]) -> str:
    named = found.groupdict()
    if named.get("slash"):
        return "/"
    if units := named.get("units"):
        shown = bytes.fromhex(units.replace("\\u", "")).decode("utf-16-be", "surrogatepass")
    else:
        number = int(named.get("number") or "0", 16)
        shown = chr(number) if 0 < number <= sys.maxunicode else ""
    if shown == "\xad":
        # A soft hyphen is not part of its word.
        return ""
    return shown if shown.isprintable() and not shown.isascii() else found[0]


def read_yaml(text: str) -> Reading:
    """Read YAML with comments; invalid YAML is read as code."""
    reading = code.read(text)
    if len(text) > MAX_OUTLINED_CHARS:
        return reading
    try:
        keys = list(_yaml_keys(text))
    except (yaml.YAMLError, ValueError, IndexError):
        return reading
    return replace(reading, headings=tuple(_headings(keys)))


def read_toml(text: str) -> Reading:
    """Read TOML; table names are headings. Characters are decoded as in `read_properties`."""
    text = _unescape(text, _CODES)
    headings = (Heading(1, match[1], *match.span()) for match in _TOML_TABLE.finditer(text))
    return replace(code.read(text), headings=tuple(headings))


def read_properties(text: str) -> Reading:
    """Read Java properties, with escaped characters decoded."""
    return code.read(_unescape(text, _CODES))


def _headings(keys: Iterable[_Key]) -> Iterator[Heading]:
    """Yield keys of collections, and keys that would otherwise seem to be in the previous one.

    Keys inside a yielded heading are skipped.
    """
    last: Heading | None = None
    for heading, has_collection in keys:
        is_after = last is None or heading.start >= last.end
        if is_after and (has_collection or (last and last.level >= heading.level)):
            last = heading
            yield heading


def _json_keys(text: str) -> Iterator[_Key]:
    step = 0
    for match in _JSON_KEY.finditer(text):
        step = step or len(match[1])
        level, rest = divmod(len(match[1]), step)
        if rest == 0 and 1 <= level <= MAX_LEVELS:
            yield Heading(level, match[2], *match.span()), match[3] is not None


def _yaml_keys(text: str) -> Iterator[_Key]:
    """Yield the keys of block mappings, except of those inside lists and flow mappings."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    # For each open collection: whether it is a block mapping, and the key waiting for its value.
    open_keys: list[tuple[bool, tuple[str, int] | None]] = []
    # Only events are read, so tags create no objects, and aliases are not followed.
    for event in yaml.parse(text, Loader=YAML_LOADER):
        if isinstance(event, yaml.CollectionEndEvent):
            open_keys.pop()
        elif isinstance(event, yaml.NodeEvent):
            is_mapping, key = open_keys[-1] if open_keys else (False, None)
            is_collection = isinstance(event, yaml.CollectionStartEvent)
            level = len(open_keys)
            if key and level <= MAX_LEVELS and all(is_block for is_block, _ in open_keys):
                name, line = key
                yield Heading(level, name, starts[line], starts[line + 1] - 1), is_collection
            if is_mapping:
                # A key that is not a scalar is not a heading, and its value is treated as a key.
                named = None
                if isinstance(event, yaml.ScalarEvent) and key is None and event.start_mark:
                    named = (event.value[:200], event.start_mark.line)
                open_keys[-1] = (True, named)
            if level > MAX_DEPTH:
                raise ValueError("collections are nested too deeply")
            if is_collection:
                is_block = isinstance(event, yaml.MappingStartEvent) and not event.flow_style
                open_keys.append((is_block, None))


READERS = (
    Reader("json/3", {".json": "application/json"}, read_json, texts=json_texts),
    Reader(
        "jsonl/1",
        dict.fromkeys((".jsonl", ".ndjson"), "text/x-json"),
        read_json_lines,
        texts=json_texts,
    ),
    Reader("yaml/1", dict.fromkeys((".yaml", ".yml"), "application/yaml"), read_yaml),
    Reader("toml/2", {".toml": "application/toml"}, read_toml, texts=escaped_texts),
    Reader(
        "properties/1",
        {".properties": "text/x-java-properties"},
        read_properties,
        texts=escaped_texts,
    ),
)
