"""[embedding] resolved: which keys each provider takes, and what is used where one is left out."""

from dataclasses import dataclass
from typing import Literal

from foundry.config.file import EmbeddingSection, Provider
from foundry.features.providers import PROVIDERS

OTHER_KEY_VARIABLE = "EMBEDDING_API_KEY"


@dataclass(frozen=True, slots=True)
class EmbeddingOptions:
    """What embeds documents and queries.

    Attributes:
        provider: See `embedding.registry`.
        model: As the provider names it, or the path of a folder; empty for `static` and `none`.
        base_url: Of the service, without a slash at the end; empty for a model on this machine.
        api_key_env: The variable that holds the service's key; it may be unset.
        dimensions: To ask the service for; None for the model's own.
        document_prefix: None for what the model is known to want.
        query_prefix: None for what the model is known to want.
        max_tokens: Of one text; None for the model's own limit.
        concurrency: Calls at the same time.
        retry_seconds: How long a build goes on trying when a service fails.
        price_per_million_tokens: For the estimate; None where it is not known.
        query: What embeds queries: `distilled` and `same` force one, `auto` lets the measured
            overlap decide.
        distillation_texts: How many texts beside the chunks the model may be asked to embed.
    """

    provider: Provider = "static"
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    dimensions: int | None = None
    document_prefix: str | None = None
    query_prefix: str | None = None
    max_tokens: int | None = None
    concurrency: int = 4
    retry_seconds: int = 600
    price_per_million_tokens: float | None = None
    query: Literal["auto", "same", "distilled"] = "auto"
    distillation_texts: int = 16_000


def find_problems(section: EmbeddingSection) -> list[str]:
    """Return what is wrong with a section whose keys are each possible by themselves."""
    written = section.model_dump(exclude={"provider"}, exclude_none=True)
    allowed = PROVIDERS[section.provider].keys
    problems = []
    for key in written:
        if key not in allowed:
            takers = ", ".join(repr(name) for name, each in PROVIDERS.items() if key in each.keys)
            problems.append(
                f"embedding.{key}: provider {section.provider!r} takes no such key; {takers} do"
            )
    if allowed and section.model is None:
        problems.append(f"embedding.model: required for provider {section.provider!r}")
    return problems


def resolve(section: EmbeddingSection) -> EmbeddingOptions:
    """Fill in what was left out."""
    written = section.model_dump(exclude={"provider"}, exclude_none=True)
    provider = section.provider
    declared = PROVIDERS[provider]
    defaults: dict[str, object] = {
        "base_url": declared.base_url,
        "api_key_env": declared.api_key_env,
        "dimensions": declared.dimensions,
    }
    if "base_url" in written:
        # A key is for the service that gave it, and goes to no other unless it is named for it.
        defaults["api_key_env"] = OTHER_KEY_VARIABLE
    values = {**defaults, **written}
    values["base_url"] = str(values["base_url"]).rstrip("/")
    return EmbeddingOptions(provider=provider, **values)
