"""Options of `foundry serve`, and what it and `foundry watch` report besides builds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from foundry.documents import Skipped


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Options of serving a project here.

    `port` is by default that of foundry.toml, 0 is any free one; `watch` builds again after each
    change. An address that other machines can reach needs API_TOKENS or `insecure_no_auth`. Builds
    may reach the hosts of `allow_private` at private addresses.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    insecure_no_auth: bool = False
    watch: bool = True
    allow_private: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Adopted:
    """A folder, a file or a url without foundry.toml, and the project in the user's cache for it.

    `lasting` is what `foundry init --source` takes: the source itself, or a file's folder if that
    file is no table of documents. `versions` says which folders of versions were recognised, and
    `allow_private` is the host that a url names, if it seems to be a private one.
    """

    source: str
    lasting: str
    project: Path
    versions: str = ""
    allow_private: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listening:
    """A server answers at `address`; `again` says that foundry.toml asked for another one."""

    address: str
    again: bool


@dataclass(frozen=True, slots=True)
class Watched:
    """How many of the `found` folders are watched; if not all are, `reason` says why.

    `left` are folders that cannot be watched.
    """

    watched: int
    found: int
    reason: str = ""
    left: tuple[Skipped, ...] = ()
