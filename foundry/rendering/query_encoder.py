"""Chooses the query encoder of a server, based on its index."""

from foundry.config.project import Config
from foundry.errors import IndexUnusableError
from foundry.features.providers import PROVIDERS, Provider, Static
from foundry.runtime.index.layout import Manifest


def choose_query_encoder(config: Config, manifest: Manifest) -> Provider:
    """Return the provider that embeds queries in a server with this index.

    It is `static`, the table in the index, unless the model itself embeds queries. Raises
    IndexUnusableError if foundry.toml and the index do not match.
    """
    provider = config.embedding.provider
    if provider == "none":
        return PROVIDERS["none"]
    hint = f"build it again: {config.build_command}"
    if manifest.dense is None:
        raise IndexUnusableError(
            f"{config.root}: the index has no vectors, but foundry.toml asks for them", hint=hint
        )
    if manifest.dense["query"]["encoder"] != "same":
        return PROVIDERS[Static.name]
    if (built := manifest.dense["provider"]) != provider:
        raise IndexUnusableError(
            f"{config.root}: the index was built with provider {built!r}, which also embeds"
            f" queries, but foundry.toml now names {provider!r}",
            hint=hint,
        )
    return PROVIDERS[provider]
