"""Reads a lock file of uv: packages, their files, and dependencies with conditions.

The format is version 1 of uv.lock. The templates have one lock with everything that servers may
depend on; a server's lock is the part of it that the server needs.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from foundry.errors import RenderError

FORMAT = 1
_SEPARATOR = "\n[[package]]\n"

Condition = frozenset[frozenset[str]]
"""Alternatives, each a set of environment markers that must all hold; an empty set always holds."""

ALWAYS: Condition = frozenset({frozenset()})


@dataclass(frozen=True, slots=True)
class Edge:
    """A dependency with the requested `extras`.

    `version` is set if the lock has several versions. `marker` is the condition, if any, under
    which it is needed.
    """

    name: str
    version: str | None
    extras: tuple[str, ...]
    marker: str | None


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """A package at one version; `block` is its text in the lock, `wheels` are its wheels' SHA-256.

    `edges` are its dependencies by extra, "" for those always needed; `registry` is a url.
    """

    name: str
    version: str
    registry: str
    block: str
    edges: Mapping[str, tuple[Edge, ...]]
    wheels: tuple[str, ...]

    def needs(self, extras: Iterable[str]) -> list[Edge]:
        """Return the requirements of the package with these extras."""
        return [edge for extra in ("", *sorted(extras)) for edge in self.edges.get(extra, ())]


@dataclass(frozen=True, slots=True)
class Selection:
    """A selected package, its requested extras, and the condition for installing it."""

    package: LockedPackage
    extras: frozenset[str]
    condition: Condition


class Resolution:
    """A parsed lock.

    `header` is its text before the packages, `roots` are the dependencies of the resolved project,
    `specifiers` the resolved version ranges, by the project's extra ("" for none) and package name.
    """

    def __init__(self, text: str) -> None:
        """Parse a lock. Raises RenderError for any other format."""
        try:
            content = tomllib.loads(text)
            if content["version"] != FORMAT:
                raise ValueError(f"version {content['version']}, expected {FORMAT}")
            header, *blocks = f"\n{text}".split(_SEPARATOR)
            self.header = header.removeprefix("\n")
            self._read(content["package"], blocks)
        except (ValueError, LookupError, TypeError) as error:
            raise RenderError(f"the lock of the templates cannot be read: {error}") from None

    def _read(self, entries: list[dict[str, Any]], blocks: list[str]) -> None:
        self._packages: dict[str, list[LockedPackage]] = {}
        for entry, block in zip(entries, blocks, strict=True):
            if "registry" not in entry["source"]:
                own = entry
                continue
            package = _read_package(entry, block)
            self._packages.setdefault(package.name, []).append(package)
        self.roots = _edges_of(own)
        self.specifiers = {
            (_extra_of(asked), asked["name"]): asked.get("specifier", "")
            for asked in own["metadata"]["requires-dist"]
        }

    def select(self, edges: Iterable[Edge]) -> list[Selection]:
        """Return all direct and indirect dependencies, sorted by name and version."""
        conditions: dict[tuple[str, str], Condition] = {}
        extras: dict[tuple[str, str], set[str]] = {}
        waiting = [(edge, ALWAYS) for edge in edges]
        while waiting:
            edge, outer = waiting.pop()
            condition = _both(outer, edge.marker)
            for package in self._packages[edge.name]:
                key = (package.name, package.version)
                if edge.version not in (None, package.version):
                    continue
                known = conditions.get(key, frozenset())
                joined = _either(known, condition)
                asked = extras.setdefault(key, set())
                if joined == known and asked.issuperset(edge.extras):
                    continue
                conditions[key] = joined
                asked.update(edge.extras)
                waiting += [(dependency, joined) for dependency in package.needs(asked)]
        found = {
            (package.name, package.version): package
            for packages in self._packages.values()
            for package in packages
        }
        return [
            Selection(found[key], frozenset(extras[key]), conditions[key])
            for key in sorted(conditions)
        ]


def format_condition(condition: Condition) -> str:
    """Format a condition as an environment marker (PEP 508); "" if it always holds."""
    alternatives = sorted(
        " and ".join(f"({part})" if " or " in part else part for part in sorted(parts))
        for parts in condition
    )
    if len(alternatives) > 1:
        alternatives = [f"({text})" if " and " in text else text for text in alternatives]
    return " or ".join(alternatives)


def _read_package(entry: dict[str, Any], block: str) -> LockedPackage:
    return LockedPackage(
        name=entry["name"],
        version=entry["version"],
        registry=entry["source"]["registry"],
        block=block.rstrip("\n"),
        edges=_edges_of(entry),
        wheels=tuple(
            sorted(wheel["hash"].removeprefix("sha256:") for wheel in entry.get("wheels", ()))
        ),
    )


def _edges_of(package: Mapping[str, Any]) -> dict[str, tuple[Edge, ...]]:
    groups = {"": package.get("dependencies", ()), **package.get("optional-dependencies", {})}
    return {extra: tuple(map(_read_edge, group)) for extra, group in groups.items()}


def _read_edge(entry: Mapping[str, Any]) -> Edge:
    extras = tuple(entry.get("extra", ()))
    return Edge(entry["name"], entry.get("version"), extras, entry.get("marker"))


def _extra_of(asked: Mapping[str, str]) -> str:
    match = re.fullmatch(r"extra == '([^']*)'", asked.get("marker", ""))
    return match[1] if match else ""


def _both(condition: Condition, marker: str | None) -> Condition:
    return condition if marker is None else frozenset(parts | {marker} for parts in condition)


def _either(one: Condition, other: Condition) -> Condition:
    joined = one | other
    return frozenset(parts for parts in joined if not any(smaller < parts for smaller in joined))
