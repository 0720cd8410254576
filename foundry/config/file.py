"""foundry.toml as users write it: its sections, their keys, and the allowed values."""

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from foundry.config.export import ExportSection
from foundry.config.search import SearchSection
from foundry.config.sources import Source
from foundry.features.feature import Slug, Strings, Table
from foundry.features.interfaces import INTERFACES
from foundry.features.operation import Callers, Interface
from foundry.features.providers import OTHER_KEY_VARIABLE, PROVIDERS
from foundry.features.stores import StoreSection
from foundry.runtime.hosts import HOST, HOSTS_HINT, plain_host
from foundry.runtime.settings import ADDRESS

DEFAULT_MAX_CHARS = {"page": 4000, "parent": 400}
"""Defaults other than 1,200: pages are long, and results show the parents of small chunks."""

MINIMUM_MAX_TOKENS = 32

Strategy = Literal["headings", "recursive", "sentences", "page", "code", "parent", "none"]

if TYPE_CHECKING:
    Provider = str
else:
    Provider = Literal[tuple(PROVIDERS)]


class ProjectSection(Table):
    """[project]: names and descriptions of the server.

    Attributes:
        name: The name of the server and its command: lower-case words, joined by hyphens.
        title: The title of the search page.
        description: One sentence about the subject of the documents; assistants read it too.
        language: The language of the documents, for stemming; `none` for no stemming.
    """

    name: Slug
    title: str = ""
    description: str = ""
    language: str = "english"


class ChunkingSection(Table):
    """[chunking]: how documents are split; sizes are in characters, except `max_tokens`.

    Attributes:
        strategy: The kind of chunk.
        max_chars: The maximum length of a chunk; by default 4,000 for `page` and 400 for `parent`.
        overlap: The maximum number of characters that a chunk repeats from the previous one.
        parent_max_chars: The maximum length of the passage around a chunk; only for `parent`.
        max_tokens: A further limit, in estimated tokens, on a chunk with its headings; 0 for none.
    """

    strategy: Strategy = "headings"
    max_chars: int = Field(default=1200, ge=100, le=100_000)
    overlap: int = Field(default=0, ge=0)
    parent_max_chars: int = Field(default=3000, ge=100, le=100_000)
    max_tokens: int = Field(default=0, ge=0, le=100_000)

    @model_validator(mode="before")
    @classmethod
    def _choose_size(cls, written: object) -> object:
        """Set the strategy's default size."""
        size = isinstance(written, dict) and DEFAULT_MAX_CHARS.get(str(written.get("strategy")))
        return {"max_chars": size, **written} if isinstance(written, dict) and size else written

    def find_problems(self) -> list[str]:
        """Return conflicts between keys that are valid by themselves, with key paths."""
        problems = [
            f"chunking.{key}: does nothing with strategy 'none'; remove it"
            for key in ("max_chars", "overlap")
            if self.strategy == "none" and key in self.model_fields_set
        ]
        if self.overlap >= self.max_chars:
            problems.append(
                f"chunking.overlap: must be smaller than chunking.max_chars"
                f" ({self.max_chars}), got {self.overlap}"
            )
        if self.strategy != "parent" and "parent_max_chars" in self.model_fields_set:
            problems.append(
                "chunking.parent_max_chars: only applies to strategy 'parent', not"
                f" {self.strategy!r}"
            )
        elif self.strategy == "parent" and self.parent_max_chars < self.max_chars:
            problems.append(
                f"chunking.parent_max_chars: must not be smaller than chunking.max_chars"
                f" ({self.max_chars}), got {self.parent_max_chars}"
            )
        if 0 < self.max_tokens < MINIMUM_MAX_TOKENS:
            problems.append(
                f"chunking.max_tokens: must be 0 for no limit, or at least {MINIMUM_MAX_TOKENS},"
                f" got {self.max_tokens}"
            )
        return problems


class BuildSection(Table):
    """[build]: how repeated text is treated, and how many words may be lost.

    Attributes:
        duplicates: Which copies of a document to leave out: those with the same words (`exact`),
            also those that differ in a few words (`near`), or none (`keep`).
        boilerplate: Whether text that many documents share is cut from the beginning and end of
            chunks.
        max_unaccounted: The largest share of the sources' words, 0 to 1, that may be unaccounted
            for; above it, a build fails.
    """

    duplicates: Literal["exact", "near", "keep"] = "exact"
    boilerplate: Literal["drop", "keep"] = "drop"
    max_unaccounted: float | None = Field(default=None, ge=0.0, le=1.0)


class EmbeddingSection(Table):
    """[embedding]: how documents and queries are embedded.

    Attributes:
        provider: The provider: the built-in table, a library, a service, or none.
        model: The model's name at the provider, or the path of a folder; required except for
            `static` and `none`.
        base_url: The address of the service, without a slash at the end.
        api_key_env: The variable that contains the service's key; it may be unset. With a
            `base_url`, its name must begin with EMBEDDING.
        dimensions: How many dimensions to request from the service; by default the model's own.
        document_prefix: Text put before each chunk; set automatically for common models.
        query_prefix: Text put before each query; set automatically for common models.
        max_tokens: The maximum number of tokens in a text; longer texts are embedded in parts. By
            default the model's own limit.
        concurrency: The maximum number of concurrent calls of the service.
        retry_seconds: How long a build keeps retrying a failing service.
        query: How queries are embedded: by the trained table (`distilled`), by the model (`same`),
            or by the one that the measured overlap suggests (`auto`).
        distillation_texts: How many texts, besides the chunks, the model may embed for training.
    """

    provider: Provider = "static"
    model: str = Field(default="", min_length=1)
    base_url: str = Field(default="", pattern=f"^(?:{ADDRESS.pattern})$")
    api_key_env: str = Field(default="", pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    dimensions: int | None = Field(default=None, ge=1, le=16_384)
    document_prefix: str | None = None
    query_prefix: str | None = None
    max_tokens: int | None = Field(default=None, ge=16)
    concurrency: int = Field(default=4, ge=1, le=64)
    retry_seconds: int = Field(default=600, ge=0, le=86_400)
    query: Literal["auto", "same", "distilled"] = "auto"
    distillation_texts: int = Field(default=16_000, ge=100, le=1_000_000)

    def find_problems(self) -> list[str]:
        """Return conflicts between keys that are valid by themselves, with key paths."""
        allowed = PROVIDERS[self.provider].keys
        problems = []
        for key in EmbeddingSection.model_fields:
            if key in self.model_fields_set - {"provider"} and key not in allowed:
                takes = (repr(name) for name, each in PROVIDERS.items() if key in each.keys)
                problems.append(
                    f"embedding.{key}: provider {self.provider!r} has no such key; remove it, or"
                    f" use provider {' or '.join(takes)}"
                )
        if self.query == "same" and "distillation_texts" in self.model_fields_set:
            problems.append(
                "embedding.distillation_texts: does nothing with query 'same'; remove it"
            )
        if allowed and not self.model:
            problems.append(f"embedding.model: required for provider {self.provider!r}")
        problems += PROVIDERS[self.provider].find_key_problems(self.base_url, self.api_key_env)
        return problems

    def resolve(self) -> Self:
        """Return the section with the defaults of its provider filled in."""
        declared, written = PROVIDERS[self.provider], self.model_fields_set
        defaults = {
            "base_url": declared.base_url,
            # A key belongs to one service. Another service has its own variable, so that it never
            # gets this key.
            "api_key_env": OTHER_KEY_VARIABLE if "base_url" in written else declared.api_key_env,
            "dimensions": declared.dimensions,
        }
        values = {name: value for name, value in defaults.items() if name not in written}
        base_url = values.get("base_url", self.base_url)
        return self.model_copy(update={**values, "base_url": str(base_url).rstrip("/")})


class ServerOptions(Table):
    """[server] except for the keys of its interfaces.

    Attributes:
        port: The port to listen on.
        allowed_hosts: Host names of the server besides localhost; the variable `ALLOWED_HOSTS`
            adds to them.
        max_body_bytes: The largest request body.
        max_connections: The maximum number of open connections.
        concurrent_searches: Maximum concurrent searches; others wait for up to a second.
        concurrent_streams: Maximum concurrent streamed responses, such as whole documents.
    """

    port: int = Field(default=8000, ge=1, le=65535)
    allowed_hosts: Strings = ()
    max_body_bytes: int = Field(default=262_144, ge=1024)
    max_connections: int = Field(default=2048, ge=8, le=1_000_000)
    concurrent_searches: int = Field(default=8, ge=1, le=10_000)
    concurrent_streams: int = Field(default=16, ge=1, le=10_000)

    @property
    def interfaces(self) -> dict[str, Interface]:
        """The enabled interfaces, by name."""
        return {name: each for name, each in INTERFACES.items() if getattr(self, name)}

    @property
    def has_tokens(self) -> bool:
        """True if the server can check tokens."""
        return Callers.name in self.interfaces

    def find_problems(self) -> list[str]:
        """Return missing requirements, keys of disabled interfaces, and invalid hosts."""
        return [
            *(
                f"server.{name}: needs {needed} = true; set that, or remove {name}"
                for name, interface in self.interfaces.items()
                for needed in interface.needs
                if needed not in self.interfaces
            ),
            *(
                f"server.{option}: does nothing without {name} = true; set that, or remove it"
                for name, interface in INTERFACES.items()
                for option in interface.keys.model_fields
                if name not in self.interfaces
                and option != name
                and option in self.model_fields_set
            ),
            *(
                f"server.allowed_hosts[{number}]: {host!r} is not a host name; {HOSTS_HINT}"
                for number, host in enumerate(self.allowed_hosts)
                if not HOST.fullmatch(plain_host(host.lower()))
            ),
        ]


class ServerSection(ServerOptions, *(each.keys for each in INTERFACES.values())):  # type: ignore[misc]
    """[server]."""


class ConfigFile(Table):
    """The file as written; optional fields may be missing."""

    project: ProjectSection
    sources: Annotated[
        tuple[Annotated[Source, Field(discriminator="type")], ...],
        Field(strict=False, min_length=1),
    ]
    build: BuildSection = BuildSection()
    chunking: ChunkingSection = ChunkingSection()
    embedding: EmbeddingSection = EmbeddingSection()
    search: SearchSection = SearchSection()
    store: StoreSection = StoreSection()
    server: ServerSection = ServerSection()
    export: ExportSection = ExportSection()
