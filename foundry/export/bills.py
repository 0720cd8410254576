"""Bills of materials for a server's code and its index.

sbom.cdx.json is CycloneDX 1.6 (ECMA-424, https://cyclonedx.org/specification/overview/). It is made
only from the lock and a table of licences, so it is the same on every machine and day; timestamp
and serial number, which are optional, are left out. A package has the SHA-256 of each of its
wheels, one of which is installed. corpus.json lists the documents.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foundry.errors import DISTRIBUTION
from foundry.export.resolution import Selection, format_condition
from foundry.files import templates_folder
from foundry.runtime.index.layout import IndexLayout

SBOM = "sbom.cdx.json"
SPECIFICATION = "1.6"
MARKER_PROPERTY = "uv:package:marker"
"""The property that uv's own SBOM export uses for the condition of a package."""

CORPUS = "corpus.json"
CORPUS_FORMAT = 1

_STATED = {"licence": ("licence", "license"), "fetched_at": ("fetched_at",)}
"""Entries from a document's own metadata, with the keys that may contain them."""


def format_sbom(
    name: str, version: str, roots: Sequence[str], selected: Sequence[Selection], foundry: str
) -> bytes:
    """Return the bill of materials of a server with this name and version.

    `roots` are its direct requirements, `foundry` is the version of Foundry that generated it.
    """
    own = f"{name}@{version}"
    depends = {
        own: sorted({_reference(item) for item in selected if item.package.name in set(roots)})
    }
    for item in selected:
        depends[_reference(item)] = sorted(_needs(item, selected))
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "version": 1,
        "metadata": {
            "tools": {
                "components": [{"type": "application", "name": DISTRIBUTION, "version": foundry}]
            },
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": name,
                "version": version,
            },
        },
        "components": [_component(item) for item in selected],
        "dependencies": [
            {"ref": reference, "dependsOn": needed} for reference, needed in depends.items()
        ],
    }
    return json.dumps(content, indent=1).encode() + b"\n"


def _component(item: Selection) -> dict[str, Any]:
    reference = _reference(item)
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": reference,
        "name": item.package.name,
        "version": item.package.version,
        "purl": reference,
        "externalReferences": [
            {
                "type": "distribution",
                "url": f"{item.package.registry}/{item.package.name}/",
                "hashes": [{"alg": "SHA-256", "content": digest} for digest in item.package.wheels],
            }
        ],
    }
    if licence := LICENCES.get(item.package.name):
        component["licenses"] = [{"expression": licence, "acknowledgement": "declared"}]
    if marker := format_condition(item.condition):
        component["properties"] = [{"name": MARKER_PROPERTY, "value": marker}]
    return component


def _needs(item: Selection, selected: Sequence[Selection]) -> set[str]:
    return {
        _reference(other)
        for edge in item.package.needs(item.extras)
        for other in selected
        if other.package.name == edge.name and edge.version in (None, other.package.version)
    }


def _reference(item: Selection) -> str:
    """Return the package URL of a package at its version."""
    return f"pkg:pypi/{item.package.name}@{item.package.version}"


LICENCES: Mapping[str, str] = {
    package: expression
    for expression, packages in json.loads(
        (templates_folder() / "licences.json").read_bytes()
    ).items()
    for package in packages.split()
}
"""SPDX expressions by package name as in the lock."""


def format_corpus(index: Path) -> bytes:
    """Return the bill of materials of an index: path, url, hash and size of each document.

    Licence and fetch time are listed if a document's metadata has them.
    """
    with IndexLayout(index).documents.open(encoding="utf-8") as lines:
        documents = [_describe(json.loads(line)) for line in lines]
    content = {
        "format": CORPUS_FORMAT,
        "documents": sorted(documents, key=lambda entry: (entry["source"], entry["id"])),
    }
    return json.dumps(content, indent=1).encode() + b"\n"


def _describe(record: dict[str, Any]) -> dict[str, Any]:
    entry = {key: record[key] for key in ("id", "source", "path")}
    if record["url"]:
        entry["url"] = record["url"]
    entry |= {key: record[key] for key in ("media_type", "sha256", "bytes")}
    if record["modified"]:
        entry["modified"] = record["modified"]
    stated = {name.lower(): text for name, text in record["metadata"].items()}
    for name, keys in _STATED.items():
        if found := next((stated[key] for key in keys if stated.get(key)), None):
            entry[name] = found
    return entry
