"""What identifies a model in a folder: a hash of everything that its vectors depend on."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from foundry.files import hash_file

SUFFIXES = frozenset(
    {".bin", ".json", ".model", ".onnx", ".onnx_data", ".pt", ".safetensors", ".txt", ".data"}
)
"""Of weights, of configurations and of tokenizers' files."""


def hash_model_folder(folder: Path) -> str:
    """SHA-256 over the paths and contents of a model's files, whatever else lies beside them."""
    digest = hashlib.sha256()
    for name, path in list_model_files(folder):
        digest.update(f"{name}\0{hash_file(path)}\n".encode())
    return digest.hexdigest()


def list_model_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files that a model's vectors depend on, with their names within the folder, in
    order."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.suffix in SUFFIXES and path.is_file() and not name.startswith("."):
            yield name, path
