"""Settings of the engine, from settings.json, and its address, from the environment."""

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
        exact: Whether all vectors are compared, instead of the candidates of a graph.
        timeout: Seconds that one call may take.
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
    """Return the address of the engine, which no message quotes. Raises ConfigurationError."""
    address = os.environ.get(variable, "").strip()
    if not address:
        raise ConfigurationError(
            f"{variable} is not set: the address of the engine that this server searches",
            hint=f"set it, such as {variable}={example}",
        )
    return address
