"""Reads settings.json, and what the environment overrides of it."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..index.errors import ConfigurationError

SETTINGS_FILE = Path(__file__).parents[1] / "settings.json"

ADDRESS = re.compile(
    r"https?://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~/%-]*)?"
)
"""The address of a service: no user, query or fragment."""

HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
"""A host, in small letters, and a port if there is one."""

HOSTS_HINT = "write names like docs.example.com or docs.example.com:8443"

_PORT = re.compile(r"[0-9]{1,5}")
_UNUSABLE = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError),
    # Of patterns.
    *(re.error, OverflowError),
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a server takes on at a time, for each worker process.

    Attributes:
        connections: Open connections; beyond them the one that is idle longest is closed.
        searches, chats, mcp_calls: Requests of each kind that are worked on at a time; others wait
            for a second at most. Reading a chunk or a document counts as a search. None for what
            this server does not offer.
        streams: Answers that are sent in pieces at a time, chats aside; one caller has half.
        requests_per_minute: Requests of one caller (token, or address without tokens), chats
            aside; 0 for any number.
        chat_requests_per_minute: The same for chats.
    """

    connections: int
    searches: int
    streams: int
    requests_per_minute: int
    chats: int | None = None
    chat_requests_per_minute: int | None = None
    mcp_calls: int | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """What a server is told about itself.

    The port comes from settings.json unless PORT is set; the address under which clients reach the
    server comes from PUBLIC_URL alone.
    """

    name: str
    title: str
    description: str
    port: int
    public_url: str | None
    allowed_hosts: tuple[str, ...]
    max_body_bytes: int
    limits: Limits
    identifier_patterns: tuple[re.Pattern[str], ...]
    chat_instructions: str


@cache
def settings() -> Settings:
    """Read the settings once. Raises ConfigurationError."""
    return read_settings(SETTINGS_FILE)


@contextmanager
def reading(file: Path = SETTINGS_FILE) -> Iterator[Any]:
    """Read the JSON of an exported file; what is wrong with it within is a ConfigurationError."""
    try:
        yield json.loads(file.read_bytes())
    except _UNUSABLE as error:
        raise ConfigurationError(
            f"{file}: unusable: {error!r}",
            hint="export the server again, or restore the file from a trusted copy",
        ) from None


def read_model(section: str, variable: str, file: Path = SETTINGS_FILE) -> str:
    """Return the name of a model or the path of its folder: of a variable, else of a section.

    Raises ConfigurationError.
    """
    with reading(file) as values:
        configured = str(values[section]["model"])
    return os.environ.get(variable, "").strip() or configured


def read_settings(file: Path) -> Settings:
    """Read settings from a file and the environment. Raises ConfigurationError."""
    with reading(file) as values:
        patterns = tuple(map(re.compile, values.get("identifier_patterns", ())))
        return Settings(
            name=str(values["name"]),
            title=str(values["title"]),
            description=str(values["description"]),
            port=_port(values["port"]),
            public_url=_public_url(),
            allowed_hosts=tuple(values["allowed_hosts"]),
            max_body_bytes=int(values["max_body_bytes"]),
            limits=Limits(**{name: int(value) for name, value in values["limits"].items()}),
            identifier_patterns=patterns,
            chat_instructions=str(values.get("chat_instructions", "")),
        )


def _public_url() -> str | None:
    written = os.environ.get("PUBLIC_URL", "").strip()
    if not written:
        return None
    if not ADDRESS.fullmatch(written):
        raise ConfigurationError(
            "PUBLIC_URL must be an address like https://docs.example.com",
            hint="write scheme, host, and port or path if there is one, or unset PUBLIC_URL",
        )
    return written.rstrip("/")


def _port(default: int) -> int:
    written = os.environ.get("PORT", "").strip()
    if not written:
        return int(default)
    if not _PORT.fullmatch(written) or int(written) > 65535:
        raise ConfigurationError(
            f"PORT must be a number from 0 to 65535, got {written!r}",
            hint="correct or unset PORT",
        )
    return int(written)
