"""What decides an index: the configuration, the programs, a model's files, and the inputs."""

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path

from foundry.config import Config
from foundry.config_sources import FolderSource, Source
from foundry.config_web_sources import WebSource
from foundry.preparing.recipe import hash_text, program_hash

_DECIDING = (
    "provider",
    "model",
    "dimensions",
    "document_prefix",
    "query_prefix",
    "max_tokens",
    "query",
    "distillation_texts",
)
"""Keys of [embedding] that the index depends on; the others say how to reach the model."""


def index_state(config: Config, digest: str) -> str:
    """Names everything that an index is made from; `digest` is that of its inputs."""
    return hash_text(hash_config(config), program_hash(), *_model_files(config), digest)


def hash_config(config: Config) -> str:
    """Over everything that decides the index; paths as they stand relative to the project."""
    embedding = asdict(config.embedding)
    values = {
        "language": config.language,
        "build": asdict(config.build),
        "chunking": asdict(config.chunking),
        "search": asdict(config.index),
        "embedding": {key: embedding[key] for key in _DECIDING},
        "sources": [_source_values(source, config.root) for source in config.sources],
    }
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _source_values(source: Source, root: Path) -> dict[str, object]:
    if isinstance(source, WebSource):
        return source.deciding_values()
    kind = "folder" if isinstance(source, FolderSource) else "records"
    return {**asdict(source), "path": os.path.relpath(source.path, root), "type": kind}


def _model_files(config: Config) -> list[str]:
    """Files of a model that lies in a folder, which may be another one some day."""
    folder = config.root / config.embedding.model
    if not config.embedding.model or not folder.is_dir():
        return []
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in paths]
