"""Options and results of a build."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from foundry.embedding.embedder import QueryFigures


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Options of a build that do not change the index.

    `jobs` is the number of worker processes, by default one per core; `fresh` ignores the cache;
    `strict` publishes nothing if anything was left out or may be a secret. `engine` runs the
    workers: this machine, or a Ray cluster at `ray_address` (see `ray.cluster`). `allow_private`
    lists hosts, optionally with a port, that sources may reach at private addresses.
    """

    engine: Literal["local", "ray"] = "local"
    ray_address: str | None = None
    jobs: int | None = None
    fresh: bool = False
    strict: bool = False
    allow_private: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """Counts of documents read, reused and removed, and of embedded chunks.

    `outdated` counts documents that were read again although they are unchanged, because Foundry or
    an option has changed. `seconds` is the wall time of reading each source; `web` has the numbers
    of fetched and unchanged pages, by source.
    """

    read: int = 0
    reused: int = 0
    removed: int = 0
    embedded: int = 0
    outdated: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    web: dict[str, dict[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The outcome of a build.

    `refused` counts chunks that the model did not embed, `queries` is how queries are embedded.
    `seconds` is wall time; `unchanged` means that nothing was published. `report` is the report
    stored in the index.
    """

    index: str
    version: str
    documents: int
    chunks: int
    changes: Changes
    skipped: dict[str, int]
    refused: int
    queries: QueryFigures | None
    seconds: float
    unchanged: bool
    report: dict[str, Any]
