"""[embedding]: which keys each provider takes, and what is used where one is left out."""

from foundry.config.file import EmbeddingSection
from foundry.features.providers import PROVIDERS

OTHER_KEY_VARIABLE = "EMBEDDING_API_KEY"


def find_problems(section: EmbeddingSection) -> list[str]:
    """Return what is wrong with a section whose keys are each possible by themselves."""
    allowed = PROVIDERS[section.provider].keys
    problems = []
    for key in EmbeddingSection.model_fields:
        if key in section.model_fields_set - {"provider"} and key not in allowed:
            takers = ", ".join(repr(name) for name, each in PROVIDERS.items() if key in each.keys)
            problems.append(
                f"embedding.{key}: provider {section.provider!r} takes no such key; {takers} do"
            )
    if allowed and not section.model:
        problems.append(f"embedding.model: required for provider {section.provider!r}")
    return problems


def resolve(section: EmbeddingSection) -> EmbeddingSection:
    """Fill in what was left out."""
    declared, written = PROVIDERS[section.provider], section.model_fields_set
    defaults = {
        "base_url": declared.base_url,
        # A key is for the service that gave it, and goes to no other unless it is named for it.
        "api_key_env": OTHER_KEY_VARIABLE if "base_url" in written else declared.api_key_env,
        "dimensions": declared.dimensions,
    }
    values = {name: value for name, value in defaults.items() if name not in written}
    base_url = values.get("base_url", section.base_url)
    return section.model_copy(update={**values, "base_url": str(base_url).rstrip("/")})
