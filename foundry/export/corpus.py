"""corpus.json: what the index of a server was made from, document by document."""

import json
from pathlib import Path
from typing import Any

from foundry.runtime.index.layout import IndexLayout

CORPUS = "corpus.json"
FORMAT = 1

_STATED = {"licence": ("licence", "license"), "fetched_at": ("fetched_at",)}
"""What a document's own metadata may say, and the keys under which it does."""


def format_corpus(index: Path) -> bytes:
    """Return the bill of materials of an index: path or url, hash and size of every document.

    A document's licence, and when it was fetched, are listed where its metadata says so.
    """
    with IndexLayout(index).documents.open(encoding="utf-8") as lines:
        documents = [_describe(json.loads(line)) for line in lines]
    content = {
        "format": FORMAT,
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
