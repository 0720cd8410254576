"""Reads settings.json, and the environment variables that override it."""

import json
import math
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .errors import ConfigurationError, cause_of
from .hosts import HOST, HOSTS_HINT, plain_host, plain_host_and_port
from .index.tree import read_file

SETTINGS_FILE = Path(__file__).parent / "settings.json"

# The address of a service: without user, query or fragment.
ADDRESS = re.compile(
    r"https?://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~/%-]*)?"
)
# A key that can be sent in a header.
API_KEY = re.compile("[!-~]+")

_UNUSABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, re.error, OverflowError)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one worker process."""

    connections: int  # If there are more, the longest-idle connection is closed.
    searches: int  # Concurrent searches and other requests; further ones wait up to a second.
    streams: int  # Concurrent streamed responses
    chats: int = 0  # Concurrent chats, which do not count as streams
    mcp_calls: int = 0
    requests_per_minute: int = 0  # Per token, or per address without one; 0 means no limit.
    chat_requests_per_minute: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError for limits with which the server could not answer."""
        if min(self.connections, self.searches, self.streams) < 1 or min(astuple(self)) < 0:
            raise ValueError(
                "limits: connections, searches and streams must be at least 1, the others 0 or more"
            )


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a server; PORT overrides the port, and ALLOWED_HOSTS adds to the hosts."""

    name: str
    title: str
    description: str
    port: int
    allowed_hosts: frozenset[str]
    max_body_bytes: int
    limits: Limits
    identifier_patterns: tuple[re.Pattern[str], ...]
    chat_instructions: str
    examples: tuple[str, ...]


@cache
def settings(file: Path = SETTINGS_FILE) -> Settings:
    """Return the settings in a file and the environment; cached. Raises ConfigurationError."""
    with reading(file) as values:
        port = read_number("PORT", most=65535, whole=True)
        return Settings(
            name=str(values["name"]),
            title=str(values["title"]),
            description=str(values["description"]),
            port=int(values["port"] if port is None else port),
            allowed_hosts=_read_hosts(values["allowed_hosts"], file),
            max_body_bytes=int(values["max_body_bytes"]),
            limits=Limits(**{name: int(value) for name, value in values["limits"].items()}),
            identifier_patterns=tuple(map(re.compile, values.get("identifier_patterns", ()))),
            chat_instructions=str(values.get("chat_instructions", "")),
            examples=tuple(map(str, values.get("examples", ()))),
        )


def identifier_patterns() -> tuple[re.Pattern[str], ...]:
    """Return the identifier patterns in settings.json."""
    return settings().identifier_patterns


def _read_hosts(listed: Iterable[str], file: Path) -> frozenset[str]:
    added = os.environ.get("ALLOWED_HOSTS", "").split(",")
    written = (each.strip().lower() for each in (*listed, *added))
    hosts = frozenset(plain_host_and_port(plain_host(host)) for host in written if host)
    if wrong := [host for host in hosts if not HOST.fullmatch(host)]:
        problem = f"ALLOWED_HOSTS, or allowed_hosts in {file}: {wrong[0]!r} is not a host name"
        raise ConfigurationError(problem, hint=HOSTS_HINT)
    return hosts


@contextmanager
def reading(file: Path = SETTINGS_FILE) -> Iterator[Any]:
    """Yield the parsed JSON of an exported file; errors in the block become ConfigurationErrors."""
    try:
        yield json.loads(read_file(file))
    except _UNUSABLE as error:
        hint = "correct the file, or restore it from a trusted copy"
        raise ConfigurationError(f"{file}: unusable: {cause_of(error)}", hint=hint) from None


def read_variable(name: str) -> str | None:
    """Return the value of a variable; None if it is unset or blank."""
    return os.environ.get(name, "").strip() or None


def read_address(name: str) -> str | None:
    """Return the address in a variable, without a final slash; None if it is unset or blank.

    Raises ConfigurationError.
    """
    written = read_variable(name)
    if written is not None and not ADDRESS.fullmatch(written):
        message = f"{name} must be an address like https://docs.example.com"
        hint = f"write scheme and host, with port and path if needed, or unset {name}"
        raise ConfigurationError(message, hint=hint)
    return written and written.rstrip("/")


def read_number(name: str, *, most: float = 1e9, whole: bool = False) -> float | None:
    """Return the number in a variable, from 0 to `most`; None if it is unset or blank.

    Raises ConfigurationError.
    """
    written = read_variable(name)
    if written is None:
        return None
    try:
        number = (int if whole else float)(written)
    except ValueError:
        number = math.nan
    if not 0 <= number <= most:
        kind = "whole number" if whole else "number"
        message = f"{name} must be a {kind} from 0 to {most:.0f}, got {written!r}"
        raise ConfigurationError(message, hint=f"correct or unset {name}")
    return number
