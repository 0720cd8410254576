"""Declares what may embed the documents, and in an export the queries."""

from typing import ClassVar, Literal

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
    "price_per_million_tokens",
}


class Provider(Feature):
    """A provider of embeddings; what it brings is for exports that embed queries with it.

    Attributes:
        kind: `none` and `pieces` embed queries without a model; `model` loads one in the server,
            `service` asks one over the network.
        keys: What may stand in [embedding] beside `provider`.
        base_url: Of the service, unless told otherwise.
        api_key_env: The variable of its key.
        dimensions: What the service is asked for; None for the model's own.
    """

    kind: ClassVar[Literal["none", "pieces", "model", "service"]]
    keys: ClassVar[frozenset[str]] = frozenset()
    base_url: ClassVar[str] = ""
    api_key_env: ClassVar[str] = ""
    dimensions: ClassVar[int | None] = None


class Static(Provider):
    """The table of word pieces that Foundry brings along."""

    name = "static"
    kind = "pieces"


class _Model(Provider):
    kind = "model"
    keys = _LOCAL_KEYS
    cache: ClassVar[str]
    section = """
## The embedding model

Queries are embedded by the model that embedded the documents, which the server loads when it
starts: the one in `{package}/settings.json`, or in the folder `EMBEDDING_MODEL`. A published model
is downloaded the first time, to
`{cache}`; a container needs that folder as a volume. The server
embeds a text whose vector is in the index, and refuses to start if another vector comes out.
"""

    def values(self) -> dict[str, object]:
        """Return the variable of the folder where models are kept."""
        return {"cache": self.cache}


class SentenceTransformers(_Model):
    """A model of Sentence Transformers."""

    name = "sentence-transformers"
    dependencies = ("sentence-transformers>=5.1,<7",)
    modules = ("sentence_transformers",)
    cache = "HF_HOME"
    environment = (
        """
# The folder of the model that embeds queries, if it has moved.
#EMBEDDING_MODEL=

# Where a published model is kept.
#HF_HOME=
""",
    )


class FastEmbed(_Model):
    """A model of fastembed."""

    name = "fastembed"
    dependencies = ("fastembed>=0.7,<0.10",)
    modules = ("fastembed",)
    cache = "FASTEMBED_CACHE_PATH"
    environment = (
        """
# The folder of the model that embeds queries, if it has moved.
#EMBEDDING_MODEL=

# Where a published model is kept.
#FASTEMBED_CACHE_PATH=
""",
    )


class _Service(Provider):
    kind = "service"
    keys = _SERVICE_KEYS
    dependencies = (HTTPX,)
    environment = (
        """
# The key of the service that embeds queries, and its address if it has moved.
#{key}=
#EMBEDDING_BASE_URL=
""",
    )
    section = """
## The embedding service

Every query is sent to the service that embedded the documents. Its address stands in
`{package}/settings.json`, unless `EMBEDDING_BASE_URL` names another one; its key comes from
`{key}`. When the server starts, and after every failure, it first asks for a text whose vector
is in the index: it refuses to start beside a service that has another model.

A query has its vector within 5 seconds, or is answered by its words: `reason` is then
`embedder_unavailable`, and `degraded` is true. A service that has failed is left alone for a
second, then for twice as long each time, a minute at most. `/readyz` answers 200 all the while,
with the status `degraded`; what the service itself said is in the log.
"""


class OpenAi(_Service):
    """Any service that answers like OpenAI's."""

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
    """Keywords alone."""

    name = "none"
    kind = "none"


PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (
        Static(),
        SentenceTransformers(),
        FastEmbed(),
        OpenAi(),
        Cohere(),
        NoVectors(),
    )
}
"""By their name in [embedding]."""
