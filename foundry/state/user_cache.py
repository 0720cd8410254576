"""Foundry's folder in the user's cache, with the secret of this installation."""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from foundry.errors import FoundryError

SECRET_NAME = ".secret.key"
"""Hidden, and named like a key, so that no source reads it."""

SECRET_BYTES = 32


def cache_folder() -> Path:
    """Return the folder of Foundry's caches, which may not exist yet.

    Raises FoundryError if the user has no home folder.
    """
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if chosen.is_absolute():
        return chosen / "foundry"
    caches = "Library/Caches" if sys.platform == "darwin" else ".cache"
    try:
        return Path.home() / caches / "foundry"
    except RuntimeError:
        raise FoundryError(
            "this user has no home folder for a cache",
            hint="set XDG_CACHE_HOME to a folder that only this user can write to",
        ) from None


def is_adopted(project: Path) -> bool:
    """Return whether Foundry created this project, for documents that had none."""
    return project.resolve().parent == cache_folder().resolve()


def begin_cache_folder() -> Path:
    """Return the cache folder; create it for this user alone if it does not exist.

    Raises FoundryError if it cannot be created.
    """
    folder = cache_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(folder, error) from None
    return folder


def read_secret() -> bytes:
    """Return the secret of this installation, created on first use.

    Raises FoundryError if it cannot be stored.
    """
    file = cache_folder() / SECRET_NAME
    try:
        return _read(file) or _make(file)
    except OSError as error:
        raise _unusable(file, error) from None


def _read(file: Path) -> bytes | None:
    """Return the secret in a file that only this user could write; None for any other file."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as opened:
        status = os.fstat(descriptor)
        is_own = status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) & 0o077 == 0
        content = opened.read(SECRET_BYTES + 1) if is_own else b""
    return content if len(content) == SECRET_BYTES else None


def _make(file: Path) -> bytes:
    """Return the secret, writing a new one if there is none, or it cannot be trusted."""
    # Imported when needed, which is once for each user.
    import tempfile

    begin_cache_folder()
    descriptor, written = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(os.urandom(SECRET_BYTES))
    try:
        if file.is_symlink() or (file.exists() and _read(file) is None):
            file.unlink()
        # If two processes create a secret at once, both use the one that was stored first.
        with suppress(FileExistsError):
            os.link(written, file)
    finally:
        Path(written).unlink()
    made = _read(file)
    if made is None:
        raise PermissionError(1, "other users can access the file", str(file))
    return made


def _unusable(path: Path, error: OSError) -> FoundryError:
    return FoundryError(
        f"{path}: the secret that signs Foundry's files cannot be stored:"
        f" {error.strerror or error}",
        hint="set XDG_CACHE_HOME to a folder that only this user can write to",
    )
