"""Where the engine is, and how it is asked: settings.json, and the environment for its address."""

import os
from dataclasses import dataclass
from pathlib import Path

from ..errors import ConfigurationError
from ..retrieval.settings import SETTINGS_FILE, reading


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """How an engine is asked.

    Attributes:
        name: Of the schema or collection.
        exact: Whether all vectors are compared, rather than those that a graph leads to.
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
    """Return the address of the engine. Raises ConfigurationError; no message holds it."""
    address = os.environ.get(variable, "").strip()
    if not address:
        raise ConfigurationError(
            f"{variable} is not set, and this server searches in the engine that it names",
            hint=f"set it, such as {variable}={example}",
        )
    return address
