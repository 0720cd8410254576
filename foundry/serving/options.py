"""Options of `foundry serve`, and the events other than builds that serving and watching yield."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from foundry.documents import Skipped


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Options for serving a project from this machine.

    `port` defaults to the port in foundry.toml, and 0 means any free port; `watch` rebuilds after
    each change. An address that other machines can reach needs API_TOKENS or `insecure_no_auth`.
    Builds may reach the hosts of `allow_private` at private addresses.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    insecure_no_auth: bool = False
    watch: bool = True
    allow_private: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Adopted:
    """A folder, a file or a url without foundry.toml, and its project in the user's cache.

    `lasting` is the argument for `foundry init --source`: the source itself, or a file's folder
    unless the file is a table of documents. `versions` describes recognised folders of versions,
    and `allow_private` is the host of a url, if it seems to be private.
    """

    source: str
    lasting: str
    project: Path
    versions: str = ""
    allow_private: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listening:
    """The server responds at `address`; `again` is True after a restart for a new foundry.toml."""

    address: str
    again: bool


@dataclass(frozen=True, slots=True)
class Watched:
    """How many of the `found` folders are `watched`; if not all, `reason` says why.

    `left` are further folders, which cannot be read or watched.
    """

    watched: int
    found: int
    reason: str = ""
    left: tuple[Skipped, ...] = ()
