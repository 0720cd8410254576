"""The preview: an export's server without its tests, in the project's state."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from filelock import FileLock

from foundry.files import hash_files, write_files
from foundry.rendering.design import Design
from foundry.rendering.plan import plan_key, plan_server
from foundry.state.folder import is_signed, sign

LOCK_SECONDS = 60.0
"""How long a query waits for another one that is rendering."""


CODE = ".key"
"""The file with the signature that identifies a server; see `foundry.state.folder`."""


def render_preview(design: Design, name: str = "server") -> Path:
    """Render the server, unless the existing one is up to date; return its folder.

    `name` is the folder's name: servers with other options have their own folders.
    """
    state = design.config.state
    server = state / name
    subject = f"{name} {plan_key(design)}"
    if _is_rendered(state, server, subject):
        return server
    # A separate lock, since queries run while a build holds the project's lock.
    with FileLock(state / f"{name}.lock", timeout=LOCK_SECONDS):
        if not _is_rendered(state, server, subject):
            files = plan_server(design, None, with_tests=False)
            shutil.rmtree(server, ignore_errors=True)
            code = sign(state, subject, _describe(files))
            write_files(server, {**files, CODE: code.encode()})
    return server


def _is_rendered(state: Path, server: Path, subject: str) -> bool:
    """Return whether a folder contains exactly the files that were rendered here for `subject`."""
    try:
        paths = {path.relative_to(server).as_posix(): path for path in server.rglob("*")}
        files = {name: path.read_bytes() for name, path in paths.items() if path.is_file()}
    except OSError:
        return False
    files.pop(CODE, None)
    return is_signed(state, subject, _describe(files), server / CODE)


def _describe(files: Mapping[str, bytes]) -> bytes:
    return json.dumps(hash_files(files), sort_keys=True).encode()
