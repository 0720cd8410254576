"""The lock files of a server: the part of the templates' lock that its pyproject.toml needs.

`uv.lock` has every package for every platform, with development tools. `requirements.txt` has the
server's runtime packages for pip, as wheels with hashes.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from foundry.errors import RenderError
from foundry.export.resolution import Edge, Resolution, Selection, format_condition

_REQUIREMENTS_HEADING = """\
# The server's dependencies, from uv.lock: pip install --require-hashes -r requirements.txt
# Only wheels, so that installing runs none of the packages' code.
--only-binary :all:
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """Requirements of a pyproject.toml by extra; those under "" are always needed."""

    name: str
    requirements: Mapping[str, Sequence[Requirement]]


def read_asked(pyproject: bytes) -> Asked:
    """Read the requirements of a pyproject.toml. Raises RenderError."""
    try:
        project = tomllib.loads(pyproject.decode())["project"]
        groups = {"": project["dependencies"], **project.get("optional-dependencies", {})}
        return Asked(
            project["name"],
            {extra: [Requirement(text) for text in texts] for extra, texts in groups.items()},
        )
    except (ValueError, LookupError, TypeError, AttributeError, InvalidRequirement) as error:
        raise RenderError(f"pyproject.toml: its dependencies cannot be read: {error}") from None


def select_packages(resolution: Resolution, asked: Asked) -> list[Selection]:
    """Return the packages that a server needs at run time. Raises RenderError."""
    return resolution.select(_edges(resolution, asked, ""))


def format_lock(resolution: Resolution, asked: Asked) -> bytes:
    """Return a server's uv.lock.

    Raises RenderError if a requirement is not in the templates' lock, or if a dependency has the
    server's name.
    """
    edges = {extra: _edges(resolution, asked, extra) for extra in asked.requirements}
    selected = resolution.select([edge for group in edges.values() for edge in group])
    blocks = [(item.package.name, item.package.version, _block(item)) for item in selected]
    own = canonicalize_name(asked.name)
    if any(name == own for name, _, _ in blocks):
        raise RenderError(
            f"the server depends on a package with its own name, {asked.name!r}",
            hint="choose another name: project.name in foundry.toml",
        )
    blocks.append((own, "", _own_block(own, asked, edges)))
    return "\n[[package]]\n".join(
        [resolution.header, *(f"{block}\n" for _, _, block in sorted(blocks))]
    ).encode()


def format_requirements(selected: Sequence[Selection]) -> bytes:
    """Return a requirements.txt with hashes. Raises RenderError for a package without wheels."""
    lines = [_REQUIREMENTS_HEADING]
    for item in selected:
        package, marker = item.package, format_condition(item.condition)
        if not package.wheels:
            raise RenderError(f"{package.name} {package.version} has no wheels")
        condition = f" ; {marker}" if marker else ""
        hashes = " \\\n".join(f"    --hash=sha256:{digest}" for digest in package.wheels)
        lines.append(f"{package.name}=={package.version}{condition} \\\n{hashes}\n")
    return "".join(lines).encode()


def _edges(resolution: Resolution, asked: Asked, extra: str) -> list[Edge]:
    edges = []
    for requirement in asked.requirements[extra]:
        name = canonicalize_name(requirement.name)
        resolved = resolution.specifiers.get((extra, name))
        if resolved is None or SpecifierSet(resolved) != requirement.specifier:
            raise RenderError(
                f"pyproject.toml asks for {requirement}, which the templates' lock does not"
                " contain",
                hint="make locks updates the templates' lock; a template of your own may leave out"
                " dependencies, but not add or change them",
            )
        edges += [edge for edge in resolution.roots[extra] if edge.name == name]
    return edges


def _block(item: Selection) -> str:
    """Return a package's block of the lock file, without unused extras."""
    text, separator, extras = item.package.block.partition("\n\n[package.optional-dependencies]\n")
    kept = [
        match[0]
        for match in re.finditer(r"(?ms)^([\w.-]+) = \[$.*?^\]$", extras)
        if match[1] in item.extras
    ]
    return text + separator + "\n".join(kept) if kept else text


def _own_block(name: str, asked: Asked, edges: Mapping[str, Sequence[Edge]]) -> str:
    lines = [f"name = {json.dumps(name)}", 'source = { editable = "." }', "dependencies = ["]
    lines += [*(f"    {_format_edge(edge)}," for edge in edges[""]), "]", ""]
    optional = {extra: group for extra, group in edges.items() if extra}
    if optional:
        lines.append("[package.optional-dependencies]")
    for extra, group in sorted(optional.items()):
        lines += [f"{extra} = [", *(f"    {_format_edge(edge)}," for edge in group), "]"]
    if optional:
        lines.append("")
    lines += ["[package.metadata]", "requires-dist = ["]
    required = sorted(
        (
            (canonicalize_name(requirement.name), extra, requirement)
            for extra, group in asked.requirements.items()
            for requirement in group
        ),
        key=lambda entry: entry[:2],
    )
    lines += [f"    {_format_required(*entry)}," for entry in required]
    lines += ["]", f"provides-extras = {json.dumps(sorted(optional))}"]
    return "\n".join(lines)


def _format_edge(edge: Edge) -> str:
    values = [f"name = {json.dumps(edge.name)}"]
    if edge.version is not None:
        values.append(f"version = {json.dumps(edge.version)}")
        values.append('source = { registry = "https://pypi.org/simple" }')
    if edge.extras:
        values.append(f"extra = {json.dumps(list(edge.extras))}")
    if edge.marker is not None:
        values.append(f"marker = {json.dumps(edge.marker)}")
    return f"{{ {', '.join(values)} }}"


def _format_required(name: str, extra: str, requirement: Requirement) -> str:
    values = [f"name = {json.dumps(name)}"]
    if requirement.extras:
        values.append(f"extras = {json.dumps(sorted(requirement.extras))}")
    if extra:
        marker = f"extra == '{extra}'"
        values.append(f"marker = {json.dumps(marker)}")
    values.append(f"specifier = {json.dumps(_format_specifier(requirement.specifier))}")
    return f"{{ {', '.join(values)} }}"


def _format_specifier(specifier: SpecifierSet) -> str:
    # uv writes lower bounds first.
    return ",".join(sorted((str(part) for part in specifier), key=lambda part: part[0] == "<"))
