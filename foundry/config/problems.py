"""Put what pydantic finds wrong with a foundry.toml into words of its keys."""

import re
from difflib import get_close_matches

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from foundry.config.file import (
    BuildSection,
    ChunkingSection,
    ConfigFile,
    EmbeddingSection,
    ExportSection,
    FieldsSection,
    ProjectSection,
    SearchSection,
    ServerSection,
)
from foundry.config.sources import SOURCES
from foundry.features.stages import STAGES
from foundry.features.stages.ranking import Tier
from foundry.features.stores import WHERE_ADDRESSES_ARE, StoreSection


def describe(detail: ErrorDetails) -> str:
    """Return the key path, and what is wrong with its value."""
    parts = detail["loc"]
    # The type of a source, which follows its number, is not a key of its own.
    parts = parts[:2] + parts[3:] if parts[0] == "sources" else parts
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)
    key = key.lstrip(".")
    # What TOML calls an array, and people a list, is a tuple once it is read.
    kind, message = detail["type"], re.sub("(?i)tuple", "list", detail["msg"])
    if kind == "extra_forbidden":
        known = _known_keys(detail["loc"])
        near = get_close_matches(str(parts[-1]), known, n=1)
        meant = f"did you mean {near[0]!r}? Known" if near else "known"
        message = f"unknown key; {meant} here: {', '.join(known)}"
        if parts[0] == "store":
            message += f"; {WHERE_ADDRESSES_ARE}"
    elif kind == "missing":
        message = "required, but missing"
    elif kind in {"union_tag_not_found", "union_tag_invalid"}:
        key, message = f"{key}.type", "must be 'folder', 'records', 'url', 'sitemap' or 'site'"
    elif parts[0] == "store" and "://" in str(detail["input"]):
        # Not quoted: it may hold a password.
        message = f"must be a name; {WHERE_ADDRESSES_ARE}"
    elif "input" in detail and not isinstance(detail["input"], (dict, list)):
        message = f"{message[0].lower()}{message[1:]}, got {_shorten(detail['input'])}"
    return f"{key}: {message}"


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _known_keys(location: tuple[int | str, ...]) -> list[str]:
    sections: dict[str, type[BaseModel]] = {
        "project": ProjectSection,
        **SOURCES,
        "build": BuildSection,
        "chunking": ChunkingSection,
        "embedding": EmbeddingSection,
        "search": SearchSection,
        "fields": FieldsSection,
        **STAGES,
        "tiers": Tier,
        "store": StoreSection,
        "server": ServerSection,
        "export": ExportSection,
    }
    for part in reversed(location[:-1]):
        if isinstance(part, str) and part in sections:
            return list(sections[part].model_fields)
    return list(ConfigFile.model_fields)
