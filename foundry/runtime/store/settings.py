"""The engine's settings (from settings.json) and its address (from the environment)."""

import os
from dataclasses import dataclass
from pathlib import Path

from ..errors import ConfigurationError
from ..settings import SETTINGS_FILE, reading


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Settings of an engine.

    Attributes:
        name: Name of the schema or collection.
        exact: Whether to compare all vectors instead of using a graph.
        timeout: Seconds allowed for one call.
    """

    name: str
    exact: bool
    timeout: float


def read_store_settings(file: Path = SETTINGS_FILE) -> StoreSettings:
    """Read the engine's settings. Raises ConfigurationError."""
    with reading(file) as settings:
        values = settings["store"]
        return StoreSettings(
            str(values["name"]), bool(values["exact"]), int(values["timeout_ms"]) / 1000
        )


def read_address(variable: str, example: str) -> str:
    """Return the engine's address, which messages never quote. Raises ConfigurationError."""
    address = os.environ.get(variable, "").strip()
    if not address:
        raise ConfigurationError(
            f"{variable} is not set; it is the address of the search engine",
            hint=f"set it, such as {variable}={example}",
        )
    return address
