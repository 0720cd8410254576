"""Durable files: hashed, synced to disk, replaced atomically, with fixed modes.

Also finds Foundry's templates and built-in models, and TOML tables next to Python modules.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_PACKAGED_TEMPLATES = Path(__file__).with_name("_templates")
_CHECKED_OUT_TEMPLATES = Path(__file__).parents[1] / "templates"

CONFIG_NAME = "foundry.toml"
"""The file that makes a folder a project."""

MODEL_FOLDER = Path(__file__).with_name("models") / "static-en"
"""The built-in encoder."""

ENGLISH_STEMS = MODEL_FOLDER.with_name("english-words") / "stems.npy"
"""Sorted hashes of the stems of common English words."""

FILE_MODE = 0o644
FOLDER_MODE = 0o755


def templates_folder() -> Path:
    """Return the folder of templates: inside the installed package, or at the top of a checkout."""
    return _PACKAGED_TEMPLATES if _PACKAGED_TEMPLATES.is_dir() else _CHECKED_OUT_TEMPLATES


def read_beside(module: str, name: str) -> dict[str, Any]:
    """Parse the TOML file `name` next to a module; `module` is the module's `__file__`."""
    # Imported when needed, like `ThreadPoolExecutor`: a query needs neither.
    import tomllib

    return tomllib.loads(Path(module).with_name(name).read_text(encoding="utf-8"))


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def english_pieces() -> list[str]:
    """Return the word pieces of the built-in encoder, most frequent first."""
    return (MODEL_FOLDER / "pieces.txt").read_text(encoding="utf-8").split("\n")[:-1]


def sync_tree(root: Path) -> None:
    """Sync every file and folder below `root`, and `root` itself, to disk."""
    from concurrent.futures import ThreadPoolExecutor

    files = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    with ThreadPoolExecutor() as threads:
        # A disk can flush several files at a time.
        for _ in threads.map(sync_file, files):
            pass
    for folder in sorted({root, *(path for path in root.rglob("*") if path.is_dir())}):
        sync_folder(folder)


def sync_file(path: Path) -> None:
    """Sync a file's content to disk."""
    _sync(path, os.O_RDONLY)


def sync_folder(folder: Path) -> None:
    """Sync a folder's entries (renames, new names) to disk."""
    _sync(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that readers see either the old or the new content."""
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by path below a folder, creating folders as needed."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def hash_files(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the SHA-256 of each content, in hex."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def set_modes(root: Path) -> None:
    """Give `root` and everything below it modes that do not depend on the umask."""
    for path in (root, *root.rglob("*")):
        if not path.is_symlink():
            path.chmod(FOLDER_MODE if path.is_dir() else FILE_MODE)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
