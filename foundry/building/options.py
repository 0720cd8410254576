"""Options of a build, and what it reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from foundry.embedding.embedder import QueryFigures


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Options of a build that do not change the index.

    `jobs` is the number of worker processes, by default one for each core; `fresh` forgets what is
    known from before; `strict` publishes nothing if anything was left out. `engine` says what runs
    the workers: this machine, or a Ray cluster at `ray_address` (see `ray.cluster`). Sources may
    reach the hosts of `allow_private`, each perhaps with a port, at private addresses.
    """

    engine: Literal["local", "ray"] = "local"
    ray_address: str | None = None
    jobs: int | None = None
    fresh: bool = False
    strict: bool = False
    allow_private: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """Counts of the documents that a build read, reused and removed, and of the chunks it embedded.

    `outdated` of those read have not changed, but Foundry has, or an option that decides how they
    are prepared. `seconds` is the wall time that each source took to be read; `web` has, by source,
    how many pages were fetched and how many had not changed.
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

    `refused` counts chunks that the model would not embed, `queries` says how queries will be
    embedded. `seconds` is wall time; `unchanged` means that nothing was published. `report` is the
    index's own.
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
