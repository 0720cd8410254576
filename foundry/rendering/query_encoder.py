"""Choose what embeds queries in a server: the index decides, modules of the runtime do it."""

from collections.abc import Mapping
from dataclasses import dataclass

from foundry.config.project import Config
from foundry.errors import IndexUnusableError
from foundry.features.providers import PROVIDERS
from foundry.runtime.index.layout import Manifest


@dataclass(frozen=True, slots=True)
class QueryEncoder:
    """One way to embed queries.

    Attributes:
        name: That of the provider where the model is asked.
        kind: `none`, where there are no vectors; `pieces`, a table in the index; `model`, which
            the server runs itself; `service`, which it asks over the network.
    """

    name: str
    kind: str


QUERY_ENCODERS: Mapping[str, QueryEncoder] = {
    encoder.name: encoder
    for encoder in (
        QueryEncoder("none", "none"),
        QueryEncoder("pieces", "pieces"),
        *(
            QueryEncoder(name, provider.kind)
            for name, provider in PROVIDERS.items()
            if provider.kind in {"model", "service"}
        ),
    )
}


def choose_query_encoder(config: Config, manifest: Manifest) -> QueryEncoder:
    """Return what a server needs that is to answer from this index.

    Raises IndexUnusableError if foundry.toml and the index do not go together.
    """
    provider = config.embedding.provider
    if provider == "none":
        return QUERY_ENCODERS["none"]
    hint = f"build it again: {config.build_command}"
    if manifest.dense is None:
        raise IndexUnusableError(
            f"{config.root}: the index has no vectors, and foundry.toml asks for them", hint=hint
        )
    if manifest.dense.query.encoder != "same":
        return QUERY_ENCODERS["pieces"]
    if manifest.dense.provider != provider:
        raise IndexUnusableError(
            f"{config.root}: the index was built with provider {manifest.dense.provider!r}, which"
            f" is to embed the queries too, and foundry.toml now says {provider!r}",
            hint=hint,
        )
    return QUERY_ENCODERS[provider]
