"""Finds the keys that an index depends on, and those that changed since it was built.

Every key counts unless `EXEMPT` lists it with a reason.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel

from foundry.config.project import Config
from foundry.features.stages import STAGES
from foundry.files import replace_file
from foundry.runtime.index.layout import Manifest

_RANKING = "only ranks the candidates of the lanes"
_SERVING = "only affects how a server answers"
_NAMING = "only names the server"
_SHIPPING = "only affects the contents of an export"
_FETCHING = "only affects how pages are fetched; the index depends on the fetched pages"
_REACHING = "only affects how a model is reached; a server compares probes to recognise the model"

EXEMPT: Mapping[str, str] = {
    "project.name": _NAMING,
    "project.title": _NAMING,
    "project.description": _NAMING,
    "build.max_unaccounted": "every build checks it against what was read",
    "sources.min_coverage": "every build checks it against what was fetched",
    "sources.requests_per_second": _FETCHING,
    "sources.timeout_seconds": _FETCHING,
    "sources.user_agent": _FETCHING,
    "embedding.base_url": _REACHING,
    "embedding.api_key_env": _REACHING,
    "embedding.concurrency": _REACHING,
    "embedding.retry_seconds": _REACHING,
    "search.fusion": _RANKING,
    "search.semantic_weight": _RANKING,
    "search.keyword_weight": _RANKING,
    "search.k": _RANKING,
    "search.identifier_fallback": _RANKING,
    "search.unknown_identifiers": _RANKING,
    "search.identifier_patterns": _RANKING,
    **{f"search.{name}": _RANKING for name, stage in STAGES.items() if not stage.built_in},
    **{
        f"search.{name}.{key}": f"{_RANKING}; the index has the data that it needs"
        for name, stage in STAGES.items()
        for key in stage.model_fields
        if stage.built_in and key not in stage.built_in
    },
    "store": "only affects where the lanes are published",
    "server": _SERVING,
    "export": _SHIPPING,
}
"""Keys of foundry.toml that do not affect an index, with reasons.

Of [server] and [store], only STATISTICS and ENGINE affect one.
"""

_RECORD = "configuration.json"
"""The file in a project's state that records the published index's configuration, by key."""

STATISTICS = "server.access_statistics"
"""The only key of [server] that affects an index."""

ENGINE = "store.engine"
"""The only key of [store] that affects an index: its term counts, and its mean chunk length."""

_LONG_CHARS = 60
"""Maximum number of characters shown of a value."""


def hash_config(config: Config) -> str:
    """Return the SHA-256, in hex, of the part of a configuration that affects the index."""
    return _hash(deciding_values(config))


def deciding_values(config: Config) -> dict[str, object]:
    """Return all values that affect the index, by key path; paths are relative to the root."""
    sections = ("project", "sources", "build", "chunking", "embedding", "search", "synonyms")
    written = ((name, getattr(config, name)) for name in sections)
    values = {
        key: value for name, section in written for key, value in _walk(section, name, config)
    }
    if config.has_own_statistics:
        values[STATISTICS] = "visible"
    if not config.store.is_embedded:
        values[ENGINE] = config.store.engine
    return values


def record_config(config: Config) -> None:
    """Record the configuration of the published index, for `find_changes`."""
    values = json.dumps(deciding_values(config), sort_keys=True, indent=1)
    replace_file(config.state / _RECORD, values.encode())


def find_changes(config: Config, manifest: Manifest) -> list[str]:
    """Return a line for each key that changed since the index was built.

    If its configuration is not recorded, the only line says that something has changed.
    """
    if manifest.config_sha256 == hash_config(config):
        return []
    built_with: object = None
    with suppress(OSError, ValueError):
        built_with = json.loads((config.state / _RECORD).read_bytes())
    if not isinstance(built_with, dict) or _hash(built_with) != manifest.config_sha256:
        return ["an input of the index"]
    return list(_compare(built_with, deciding_values(config)))


def _walk(value: object, path: str, config: Config) -> Iterator[tuple[str, object]]:
    """Yield the key paths and JSON values of everything that is not exempt."""
    if re.sub(r"\[\d+\]", "", path) in EXEMPT:
        return
    children: Iterable[tuple[str, object]] | None = None
    if isinstance(value, BaseModel):
        children = ((f".{name}", child) for name, child in value)
    elif isinstance(value, Mapping):
        children = ((f".{name}", child) for name, child in value.items())
    elif isinstance(value, tuple) and any(isinstance(item, BaseModel) for item in value):
        for number, child in enumerate(value):
            yield f"{path}[{number}]", type(child).__name__
        children = ((f"[{number}]", child) for number, child in enumerate(value))
    elif isinstance(value, Path):
        value = os.path.relpath(value, config.root)
    if children is None:
        yield path, list(value) if isinstance(value, tuple) else value
        return
    for name, child in children:
        yield from _walk(child, path + name, config)


def _compare(before: Mapping[str, object], now: Mapping[str, object]) -> Iterator[str]:
    for key in sorted(before.keys() | now.keys()):
        source = re.match(r"(sources\[\d+\])\.", key)
        if source and (source[1] in before) != (source[1] in now):
            continue
        if key not in before:
            yield f"{key} is new"
        elif key not in now:
            yield f"{key} is gone"
        elif before[key] != now[key]:
            yield f"{key} was {_show(before[key])} and is now {_show(now[key])}"


def _show(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONG_CHARS else f"{text[:_LONG_CHARS - 3]}..."


def _hash(values: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
