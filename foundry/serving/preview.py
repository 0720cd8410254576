"""The preview: the server that an export would be, without its tests, in the project's state."""

import shutil
from pathlib import Path

from filelock import FileLock

from foundry.config.project import Config
from foundry.features.providers import Provider
from foundry.files import write_files
from foundry.rendering.plan import plan_key, plan_server

LOCK_SECONDS = 60.0
"""A query waits this long for another one that renders."""


def render_preview(config: Config, query_encoder: Provider, name: str = "server") -> Path:
    """Render the server, unless nothing that decides it has changed since the last time.

    `name` is that of its folder: servers of other options have folders of their own.
    """
    server = config.state / name
    key = plan_key(config, query_encoder).encode()
    if _is_rendered(server, key):
        return server
    # A lock of its own: queries go on while a build holds the project's.
    with FileLock(config.state / f"{name}.lock", timeout=LOCK_SECONDS):
        if not _is_rendered(server, key):
            files = plan_server(config, query_encoder, None, with_tests=False)
            shutil.rmtree(server, ignore_errors=True)
            write_files(server, {**files, ".key": key})
    return server


def _is_rendered(server: Path, key: bytes) -> bool:
    try:
        return (server / ".key").read_bytes() == key
    except OSError:
        return False
