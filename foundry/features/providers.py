"""Declares the providers of embeddings, for documents and for an export's queries."""

from typing import ClassVar, Literal

from foundry.features.app_step import AppPlace, AppStep
from foundry.features.calls import Imported
from foundry.features.feature import HTTPX, Feature

_LOCAL_KEYS = frozenset(
    {"model", "document_prefix", "query_prefix", "max_tokens", "query", "distillation_texts"}
)
_SERVICE_KEYS = _LOCAL_KEYS | {
    "base_url",
    "api_key_env",
    "dimensions",
    "concurrency",
    "retry_seconds",
}


OTHER_KEY_VARIABLE = "EMBEDDING_API_KEY"
"""The variable for the key of a service at a `base_url`, unless `api_key_env` names another."""


class Provider(Feature):
    """A provider of embeddings, and its additions to exports that embed queries with it.

    Attributes:
        kind: `none` has no vectors; `pieces` embeds queries with the built-in table; `transformer`
            runs the model in the index, `model` loads one in the server, `service` calls one over
            the network.
        keys: The keys of [embedding] that it accepts, besides `provider`.
        base_url: The default address of the service.
        api_key_env: The variable for its key.
        dimensions: The number requested from the service; None for the model's own.
    """

    choice = '[embedding] provider = "{name}"'
    kind: ClassVar[Literal["none", "pieces", "transformer", "model", "service"]]
    keys: ClassVar[frozenset[str]] = frozenset()
    base_url: ClassVar[str] = ""
    api_key_env: ClassVar[str] = ""
    dimensions: ClassVar[int | None] = None

    @property
    def asks_model(self) -> bool:
        """Whether a model embeds queries, in the server or elsewhere."""
        return self.kind in {"transformer", "model", "service"}

    def find_key_problems(self, base_url: str, variable: str) -> list[str]:
        """Return problems of sending a variable's value to the service at a `base_url`.

        Without this check, someone else's foundry.toml could send any secret to their server.
        """
        is_own = base_url.rstrip("/") in ("", self.base_url)
        if is_own or not variable or variable.startswith("EMBEDDING"):
            return []
        return [
            f"embedding.api_key_env: {variable!r} is not sent to a base_url; put the service's key"
            f" into a variable whose name begins with EMBEDDING (default: {OTHER_KEY_VARIABLE})"
        ]


class Static(Provider):
    """The built-in table of word pieces."""

    name = "static"
    kind = "pieces"


class Transformer(Provider):
    """A small BERT-like transformer, run by numpy."""

    name = "transformer"
    kind = "transformer"
    keys = _LOCAL_KEYS
    section = "embedding_transformer"


class _Model(Provider):
    kind = "model"
    keys = _LOCAL_KEYS
    cache: ClassVar[str]
    section = "embedding_model"

    def values(self) -> dict[str, object]:
        """Return the variable for the folder of models."""
        return {"cache": self.cache}


class SentenceTransformers(_Model):
    """A model of Sentence Transformers."""

    name = "sentence-transformers"
    dependencies = ("sentence-transformers>=6.0,<7",)
    modules = ("sentence_transformers",)
    cache = "HF_HOME"
    environment = ("sentence_transformers",)


class FastEmbed(_Model):
    """A model of fastembed."""

    name = "fastembed"
    dependencies = ("fastembed>=0.7,<0.10",)
    modules = ("fastembed",)
    cache = "FASTEMBED_CACHE_PATH"
    environment = ("fastembed",)


class _Service(Provider):
    kind = "service"
    keys = _SERVICE_KEYS
    dependencies = (HTTPX,)
    environment = ("embedding_service",)
    app_steps = (
        AppStep(
            AppPlace.HEALTH, Imported("retrieval.embedding.live", "describe_embedder"), "embedder"
        ),
    )
    section = "embedding_service"


class OpenAi(_Service):
    """Services compatible with OpenAI."""

    name = "openai"
    base_url = "https://api.openai.com/v1"
    api_key_env = "OPENAI_API_KEY"


class Cohere(_Service):
    """Cohere."""

    name = "cohere"
    base_url = "https://api.cohere.com/v2"
    api_key_env = "COHERE_API_KEY"
    dimensions = 1024


class NoVectors(Provider):
    """Keywords only."""

    name = "none"
    kind = "none"


PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (
        Static(),
        Transformer(),
        SentenceTransformers(),
        FastEmbed(),
        OpenAi(),
        Cohere(),
        NoVectors(),
    )
}
"""Providers by name in [embedding]."""
