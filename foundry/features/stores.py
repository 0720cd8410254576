"""Declares the stores for vectors and postings of a server's index."""

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from foundry.features.app_step import AppPlace, AppStep
from foundry.features.calls import Imported
from foundry.features.feature import PACKAGE_PATTERN, Feature, Table


class Store(Feature):
    """A store: the server's own files, or a search engine.

    Attributes:
        title: Its name in messages.
        variables: Environment variables of a server, the address first.
        mean_in_steps: Rows depend on the mean chunk length, so indexes for this engine round the
            mean.
        takes_records: The engine can store records too.
    """

    choice = '[store] engine = "{name}"'
    title: ClassVar[str] = ""
    variables: ClassVar[tuple[str, ...]] = ()
    mean_in_steps: ClassVar[bool] = False
    takes_records: ClassVar[bool] = False

    @property
    def is_embedded(self) -> bool:
        """Whether the index is stored in the server's own files, not in a search engine."""
        return not self.variables


HEALTH = AppStep(AppPlace.HEALTH, Imported("store.lanes", "describe_engine"), "engine")


class Embedded(Store):
    """The server's own files."""

    name = "embedded"


class Pgvector(Store):
    """PostgreSQL with pgvector."""

    name = "pgvector"
    title = "PostgreSQL"
    dependencies = ("psycopg[binary,pool]>=3.2.2,<4",)
    modules = ("psycopg", "psycopg_pool")
    variables = ("DATABASE_URL",)
    takes_records = True
    environment = ("pgvector",)
    app_steps = (HEALTH,)
    section = "pgvector"


class Qdrant(Store):
    """Qdrant."""

    name = "qdrant"
    title = "Qdrant"
    dependencies = ("qdrant-client>=1.16,<2",)
    modules = ("qdrant_client",)
    variables = ("QDRANT_URL", "QDRANT_API_KEY")
    mean_in_steps = True
    environment = ("qdrant",)
    app_steps = (HEALTH,)
    section = "qdrant"


STORES: dict[str, Store] = {store.name: store for store in (Embedded(), Qdrant(), Pgvector())}
"""Stores by the name of the engine in [store]."""

WHERE_ADDRESSES_ARE = (
    "addresses and keys of engines are read from the environment"
    f" ({', '.join(variable for store in STORES.values() for variable in store.variables)}), never"
    " from this file"
)

if TYPE_CHECKING:
    Engine = str
else:
    Engine = Literal[tuple(STORES)]


class StoreSection(Table):
    """[store]: the store of the lanes; environment variables have its address.

    Attributes:
        engine: The store that is searched: the index in the export, or a search engine.
        name: The name of the schema or collection in the engine; by default the project's name with
            underscores.
        exact: Whether every vector is compared, instead of only the vectors that a search of a
            graph visits.
        records: Where records (texts, titles, headings, places) and documents are stored: in files
            of each server, or in the engine.
        timeout_ms: The timeout of one call.
    """

    engine: Engine = Embedded.name
    name: str = Field(default="", pattern=f"^$|{PACKAGE_PATTERN}", max_length=40)
    exact: bool = True
    records: Literal["server", "engine"] = "server"
    timeout_ms: int = Field(default=2000, ge=100, le=60_000)

    @property
    def is_embedded(self) -> bool:
        """True if there is no engine."""
        return STORES[self.engine].is_embedded

    @property
    def has_records(self) -> bool:
        """True if the engine also stores records."""
        return self.records == "engine"

    def find_problems(self, *, has_vectors: bool) -> list[str]:
        """Return conflicts between keys that are valid by themselves, with key paths."""
        if self.is_embedded:
            return [
                f"store.{key}: does nothing with engine = {self.engine!r}; remove it"
                for key in ("name", "exact", "records", "timeout_ms")
                if key in self.model_fields_set
            ]
        if not has_vectors:
            return [
                f"store.engine: {self.engine!r} needs vectors, but embedding.provider is 'none';"
                f" set a provider, or engine = {Embedded.name!r}"
            ]
        if self.has_records and not STORES[self.engine].takes_records:
            able = " or ".join(repr(name) for name, each in STORES.items() if each.takes_records)
            return [
                f"store.records: 'engine' needs engine = {able}, since {self.engine!r} cannot"
                " store records; remove the key"
            ]
        return []

    def named_after(self, project: str) -> "StoreSection":
        """Return the section; an engine without a name gets the project's name."""
        if self.is_embedded or self.name:
            return self
        return self.model_copy(update={"name": project.replace("-", "_")[:40].rstrip("_")})
