"""Choose what embeds queries in a server: the index decides, modules of the runtime do it."""

from foundry.config.project import Config
from foundry.errors import IndexUnusableError
from foundry.features.providers import PROVIDERS, Provider, Static
from foundry.runtime.index.layout import Manifest


def choose_query_encoder(config: Config, manifest: Manifest) -> Provider:
    """Return the provider that embeds queries in a server that answers from this index.

    It is the table in the index, of the provider `static`, unless the model itself is asked. Raises
    IndexUnusableError if foundry.toml and the index do not go together.
    """
    provider = config.embedding.provider
    if provider == "none":
        return PROVIDERS["none"]
    hint = f"build it again: {config.build_command}"
    if manifest.dense is None:
        raise IndexUnusableError(
            f"{config.root}: the index has no vectors, and foundry.toml asks for them", hint=hint
        )
    if manifest.dense["query"]["encoder"] != "same":
        return PROVIDERS[Static.name]
    if (built := manifest.dense["provider"]) != provider:
        raise IndexUnusableError(
            f"{config.root}: the index was built with provider {built!r}, which is to embed"
            f" the queries too, and foundry.toml now says {provider!r}",
            hint=hint,
        )
    return PROVIDERS[provider]
