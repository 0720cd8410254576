"""Where the embedding service is: settings.json, and what the environment overrides."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from ...index.errors import ConfigurationError
from ..settings import ADDRESS, SETTINGS_FILE, reading


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """An embedding service.

    Attributes:
        base_url: Without a slash at the end; EMBEDDING_BASE_URL if that is set.
        api_key: From the variable that settings.json names; None where that is unset or empty.
        dimensions: To ask for; None for the model's own.
    """

    base_url: str
    api_key: str | None = field(repr=False)
    dimensions: int | None


def read_service_settings(file: Path = SETTINGS_FILE) -> ServiceSettings:
    """Read the service's settings. Raises ConfigurationError; no message holds the key."""
    with reading(file) as settings:
        values = settings["embedding"]
        base_url = os.environ.get("EMBEDDING_BASE_URL", "").strip() or str(values["base_url"])
        api_key = os.environ.get(str(values["api_key_env"]), "").strip() or None
        dimensions = None if values["dimensions"] is None else int(values["dimensions"])
    if not ADDRESS.fullmatch(base_url):
        raise ConfigurationError(
            "the address of the embedding service must be http or https, without user, query or"
            " fragment",
            hint="correct or unset EMBEDDING_BASE_URL, or export the server again with another"
            " embedding.base_url",
        )
    return ServiceSettings(base_url.rstrip("/"), api_key, dimensions)
