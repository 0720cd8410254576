"""foundry.toml as users write it: its sections, their keys, and what each key may hold."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, create_model

import foundry
from foundry.features.feature import PACKAGE_PATTERN, Table
from foundry.features.interfaces import INTERFACES, Interface
from foundry.features.providers import PROVIDERS
from foundry.features.stage import Stage
from foundry.features.stages import STAGES
from foundry.features.stores import StoreSection
from foundry.features.targets import TARGETS
from foundry.runtime.retrieval.settings import ADDRESS

SLUG_PATTERN = r"^[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*$"
MAX_WEIGHT = 1_000_000.0
DEFAULT_USER_AGENT = f"rag-foundry/{foundry.__version__}"

Strategy = Literal["headings", "recursive", "sentences", "page", "code", "parent", "none"]

if TYPE_CHECKING:
    Provider = str
    Target = str
else:
    Provider = Literal[tuple(PROVIDERS)]
    Target = Literal[tuple(TARGETS)]


class ProjectSection(Table):
    """[project]: what the server is called."""

    name: str = Field(pattern=SLUG_PATTERN, max_length=63)
    title: str = ""
    description: str = ""
    language: str = "english"


class FolderSection(Table):
    """[[sources]] of type folder."""

    type: Literal["folder"]
    name: str | None = Field(default=None, pattern=SLUG_PATTERN, max_length=63)
    path: str = Field(min_length=1)
    include: list[str] = ["**/*"]
    exclude: list[str] = []
    base_url: str | None = None
    tags: list[str] = []
    metadata: list[str] = []
    modified: Literal["content", "file"] = "content"
    max_bytes: int = Field(default=200_000_000, ge=1)


class RecordsSection(Table):
    """[[sources]] of type records; most values name columns."""

    type: Literal["records"]
    name: str | None = Field(default=None, pattern=SLUG_PATTERN, max_length=63)
    path: str = Field(min_length=1)
    id: str = "id"
    title: str | None = "title"
    text: str = "text"
    url: str | None = "url"
    modified: str | None = "modified"
    tags_column: str | None = "tags"
    metadata: list[str] = []
    text_format: Literal["text", "markdown", "html"] = "text"
    base_url: str | None = None
    tags: list[str] = []


class _WebSection(Table):
    name: str | None = Field(default=None, pattern=SLUG_PATTERN, max_length=63)
    tags: list[str] = []
    markdown: bool = True
    min_coverage: float = Field(default=0.95, ge=0, le=1)
    requests_per_second: float = Field(default=5.0, ge=0.01, le=1000)
    timeout_seconds: float = Field(default=60.0, ge=0.1, le=3600)
    max_bytes: int = Field(default=50_000_000, ge=1, le=1_000_000_000)
    user_agent: str = Field(
        default=DEFAULT_USER_AGENT, max_length=200, pattern=r"^[A-Za-z][!-~]*(?: [!-~]+)*$"
    )
    allow_private: list[str] = []


class UrlSection(_WebSection):
    """[[sources]] of type url."""

    type: Literal["url"]
    urls: list[str] = Field(min_length=1, max_length=100_000)


class _ListedSection(_WebSection):
    url: str = Field(min_length=1)
    include: list[str] = ["*"]
    exclude: list[str] = []
    hosts: list[str] = []
    max_pages: int = Field(default=10_000, ge=1, le=1_000_000)


class SitemapSection(_ListedSection):
    """[[sources]] of type sitemap."""

    type: Literal["sitemap"]


class SiteSection(_ListedSection):
    """[[sources]] of type site."""

    type: Literal["site"]
    max_pages: int = Field(default=1_000, ge=1, le=1_000_000)
    depth: int = Field(default=5, ge=0, le=100)


SourceSection = FolderSection | RecordsSection | UrlSection | SitemapSection | SiteSection


class ChunkingSection(Table):
    """[chunking]: sizes in characters."""

    strategy: Strategy = "headings"
    max_chars: int | None = Field(default=None, ge=100, le=100_000)
    overlap: int = Field(default=0, ge=0)
    parent_max_chars: int = Field(default=3000, ge=100, le=100_000)
    max_tokens: int = Field(default=0, ge=0, le=100_000)


class BuildSection(Table):
    """[build]: what becomes of text that the sources hold more than once."""

    duplicates: Literal["exact", "near", "keep"] = "exact"
    boilerplate: Literal["drop", "keep"] = "drop"


class EmbeddingSection(Table):
    """[embedding]; which keys a provider takes is decided in `config`."""

    provider: Provider = "static"
    model: str | None = Field(default=None, min_length=1)
    base_url: str | None = Field(default=None, pattern=f"^(?:{ADDRESS.pattern})$")
    api_key_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    dimensions: int | None = Field(default=None, ge=1, le=16_384)
    document_prefix: str | None = None
    query_prefix: str | None = None
    max_tokens: int | None = Field(default=None, ge=16)
    concurrency: int | None = Field(default=None, ge=1, le=64)
    retry_seconds: int | None = Field(default=None, ge=0, le=86_400)
    price_per_million_tokens: float | None = Field(default=None, ge=0, le=MAX_WEIGHT)
    query: Literal["auto", "same", "distilled"] | None = None
    distillation_texts: int | None = Field(default=None, ge=100, le=1_000_000)


FieldWeight = Annotated[int, Field(ge=0, le=100)]


class FieldsSection(Table):
    """[search.fields]: how many times each counts in BM25, beside the text itself."""

    title: FieldWeight = 2
    headings: FieldWeight = 3
    tags: FieldWeight = 1
    metadata: dict[str, FieldWeight] = {}


class SearchOptions(Table):
    """[search] but for its stages; weights left out are those of the fusion."""

    fusion: Literal["linear", "rrf"] = "linear"
    semantic_weight: float | None = Field(default=None, ge=0, le=MAX_WEIGHT)
    keyword_weight: float | None = Field(default=None, ge=0, le=MAX_WEIGHT)
    k: int = Field(default=60, ge=1, le=10_000)
    identifier_fallback: bool = True
    identifier_patterns: list[str] = []
    filterable: list[str] = []
    fields: FieldsSection = FieldsSection()

    @property
    def stages(self) -> dict[str, Stage]:
        """The stages whose tables are there, by name."""
        tables = {name: getattr(self, name) for name in STAGES}
        return {name: table for name, table in tables.items() if table is not None}


if TYPE_CHECKING:
    SearchSection = SearchOptions
else:
    SearchSection = create_model(
        "SearchSection",
        __base__=SearchOptions,
        __doc__="[search]; stages left out are not in the server.",
        **{name: (stage | None, None) for name, stage in STAGES.items()},
    )


class ServerOptions(Table):
    """[server] but for the keys of its interfaces."""

    port: int = Field(default=8000, ge=1, le=65535)
    allowed_hosts: list[str] = []
    max_body_bytes: int = Field(default=262_144, ge=1024)
    max_connections: int = Field(default=2048, ge=8, le=1_000_000)
    concurrent_searches: int = Field(default=8, ge=1, le=10_000)
    concurrent_streams: int = Field(default=16, ge=1, le=10_000)
    requests_per_minute: int = Field(default=0, ge=0, le=1_000_000_000)

    @property
    def interfaces(self) -> dict[str, Interface]:
        """The interfaces that are not left out, by name."""
        return {name: each for name, each in INTERFACES.items() if getattr(self, name)}


if TYPE_CHECKING:
    ServerSection = ServerOptions
else:
    ServerSection = create_model(
        "ServerSection",
        __base__=(ServerOptions, *(each.keys for each in INTERFACES.values())),
        __doc__="[server].",
    )


class ExportSection(Table):
    """[export]."""

    package: str | None = Field(default=None, pattern=PACKAGE_PATTERN, max_length=63)
    targets: list[Target] = ["docker"]
    templates: str | None = Field(default=None, min_length=1)


class ConfigFile(Table):
    """The file as written; optional fields are those that may be left out."""

    project: ProjectSection
    sources: list[Annotated[SourceSection, Field(discriminator="type")]] = Field(min_length=1)
    build: BuildSection = BuildSection()
    chunking: ChunkingSection = ChunkingSection()
    embedding: EmbeddingSection = EmbeddingSection()
    search: SearchSection = SearchSection()
    store: StoreSection = StoreSection()
    server: ServerSection = ServerSection()
    export: ExportSection = ExportSection()
