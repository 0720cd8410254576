"""[store] resolved: which engine holds the lanes of a server's index, and how it is asked."""

from dataclasses import dataclass

from foundry.config_file import Engine, StoreSection

EMBEDDED: Engine = "embedded"
WHERE_ADDRESSES_ARE = (
    "addresses and keys of engines are read from the environment (DATABASE_URL, QDRANT_URL,"
    " QDRANT_API_KEY), never from this file"
)
VARIABLES: dict[Engine, tuple[str, ...]] = {
    "embedded": (),
    "qdrant": ("QDRANT_URL", "QDRANT_API_KEY"),
    "pgvector": ("DATABASE_URL",),
}
"""What a server reads from its environment, the address first."""


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Where the lanes are.

    Attributes:
        engine: `embedded` where they are files of the server's own.
        name: Of the schema or alias in the engine.
        exact: Whether every vector is compared, rather than those that a graph leads to.
        timeout_ms: How long one call may take.
    """

    engine: Engine = EMBEDDED
    name: str = ""
    exact: bool = True
    timeout_ms: int = 2000

    @property
    def is_embedded(self) -> bool:
        """Whether no engine is asked."""
        return self.engine == EMBEDDED


def find_problems(section: StoreSection, *, has_vectors: bool) -> list[str]:
    """What is wrong with [store], each with its key path."""
    if section.engine == EMBEDDED:
        return [
            f"store.{key}: does nothing with engine = {EMBEDDED!r}; remove it"
            for key in ("name", "exact", "timeout_ms")
            if key in section.model_fields_set
        ]
    if not has_vectors:
        return [
            f"store.engine: {section.engine!r} is asked for vectors too, and embedding.provider is"
            f" 'none'; set a provider, or engine = {EMBEDDED!r}"
        ]
    return []


def resolve(section: StoreSection, project: str) -> StoreOptions:
    """The options, named after the project unless told."""
    if section.engine == EMBEDDED:
        return StoreOptions()
    name = section.name or project.replace("-", "_")[:40].rstrip("_")
    return StoreOptions(section.engine, name, section.exact, section.timeout_ms)
