"""Settings: what the project says in settings.json, and what the environment overrides."""

import json
import math
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .errors import ConfigurationError
from .identifiers import compile_patterns

SETTINGS_FILE = Path(__file__).parent / "settings.json"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a server is told about itself.

    Weights come from settings.json unless SEMANTIC_WEIGHT and KEYWORD_WEIGHT are set.
    """

    name: str
    title: str
    description: str
    port: int
    allowed_hosts: tuple[str, ...]
    max_body_bytes: int
    semantic_weight: float
    keyword_weight: float
    identifier_patterns: tuple[re.Pattern[str], ...]


@cache
def settings() -> Settings:
    """Read the settings once. Raises ConfigurationError."""
    return read_settings(SETTINGS_FILE)


def read_settings(file: Path) -> Settings:
    """Read settings from a file and the environment. Raises ConfigurationError."""
    hint = "export the server again, or restore the file from a trusted copy"
    try:
        values: dict[str, Any] = json.loads(file.read_bytes())
        patterns = compile_patterns(values["identifier_patterns"])
        semantic = _weight("SEMANTIC_WEIGHT", values["semantic_weight"])
        keyword = _weight("KEYWORD_WEIGHT", values["keyword_weight"])
        read = Settings(
            name=str(values["name"]),
            title=str(values["title"]),
            description=str(values["description"]),
            port=int(values["port"]),
            allowed_hosts=tuple(values["allowed_hosts"]),
            max_body_bytes=int(values["max_body_bytes"]),
            semantic_weight=semantic,
            keyword_weight=keyword,
            identifier_patterns=patterns,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"{file}: unusable: {error!r}", hint=hint) from None
    if semantic + keyword == 0:
        raise ConfigurationError(
            "SEMANTIC_WEIGHT and KEYWORD_WEIGHT are both 0", hint="give at least one lane weight"
        )
    return read


def _weight(variable: str, default: float) -> float:
    written = os.environ.get(variable)
    try:
        weight = float(default if written is None else written)
    except ValueError:
        weight = math.nan
    if not (0 <= weight < math.inf):
        raise ConfigurationError(
            f"{variable} must be a number of 0 or more, got {written!r}",
            hint=f"correct or unset {variable}",
        )
    return weight
