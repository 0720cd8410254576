"""What decides an index: the configuration, the programs, a model's files, and the inputs."""

from foundry.build.preparing.programs import program_hash
from foundry.build.preparing.recipe import hash_text
from foundry.config.changes import hash_config
from foundry.config.project import Config

BUILDING = "foundry.build.run"
"""Imports all that an index is built by."""


def index_state(config: Config, digest: str) -> str:
    """Names everything that an index is made from; `digest` is that of its inputs."""
    return hash_text(hash_config(config), program_hash(BUILDING), *_model_files(config), digest)


def _model_files(config: Config) -> list[str]:
    """Files of a model that lies in a folder, which may be another one some day."""
    folder = config.root / config.embedding.model
    if not config.embedding.model or not folder.is_dir():
        return []
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in paths]
