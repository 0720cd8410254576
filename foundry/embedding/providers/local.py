"""Models that run on this machine, whichever library runs them."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from foundry.config.file import EmbeddingSection
from foundry.embedding.providers.model import ModelLimits, Prefixes, Side
from foundry.embedding.providers.prefixes import choose_prefixes
from foundry.files import hash_file
from foundry.runtime.retrieval.embedding.local import find_folder

BATCH_TEXTS = 256
SUFFIXES = frozenset(
    {".bin", ".json", ".model", ".onnx", ".onnx_data", ".pt", ".safetensors", ".txt", ".data"}
)
"""Of weights, of configurations and of tokenizers' files."""


class Client(Protocol):
    """A client of `foundry.runtime` that holds the model."""

    def embed(self, texts: Sequence[str], side: Side) -> NDArray[np.float32]:
        """Return unit vectors (n, d) of texts. Raises EmbeddingFailure."""
        ...

    def close(self) -> None:
        """Let go of the model."""
        ...


class LocalModel:
    """An `EmbeddingModel` on this machine.

    Args:
        options: Names the model: a folder, or a published one.
        client: Runs it.
        count: Counts a text's tokens exactly, by the model's own tokenizer.
        commit: Of a published model; empty where it is not known.
        tokens: The most that the model takes of one text.
        batch_tokens: Of a call.
        sides_differ: See `EmbeddingModel`.
        prefixes: Those that the model's own files name; None where they name none.
    """

    service = ""
    dimensions: int | None = None

    def __init__(
        self,
        options: EmbeddingSection,
        client: Client,
        count: Callable[[str], int],
        *,
        commit: str,
        tokens: int,
        batch_tokens: int,
        sides_differ: bool,
        prefixes: Prefixes | None = None,
    ) -> None:
        folder = find_folder(options.model)
        self.provider: str = options.provider
        self.model = options.model if folder is None else folder.resolve().name
        # The hash says which model it is, wherever the folder lies.
        self.revision = commit if folder is None else hash_model_folder(folder)
        self.sides_differ = sides_differ
        self.prefixes = choose_prefixes(options, prefixes)
        limit = min(tokens, options.max_tokens or tokens)
        self.limits = ModelLimits(limit, batch_tokens, BATCH_TEXTS, calls=1)
        self._client = client
        self._count = count

    def count_tokens(self, text: str) -> int:
        """Count exactly, by the model's own tokenizer."""
        return self._count(text)

    def embed(self, texts: Sequence[str], side: Side) -> NDArray[np.float32]:
        """Return one call: unit vectors (n, d). Raises EmbeddingFailure."""
        return self._client.embed(texts, side)

    def close(self) -> None:
        """Let go of the model."""
        self._client.close()


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
