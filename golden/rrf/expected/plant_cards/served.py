"""Opening an index once for a process, handing it out, and swapping in another."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from .index import Index

IndexType = TypeVar("IndexType", bound=Index)

PACKAGED_INDEX = Path(__file__).parent / "index"


@dataclass(frozen=True, slots=True)
class ServedState:
    """What is known about the index being served; see `reloading`.

    Attributes:
        verified: Whether every file has been compared with its hash.
        problem: What is not as it should be, in words that name no file of this machine.
    """

    verified: bool = False
    problem: str | None = None


class Served(Generic[IndexType]):
    """Opens an index once and hands it out.

    A caller that asks for `current` once and works with that sees one version throughout.
    """

    def __init__(self, open_index: Callable[[Path], IndexType]) -> None:
        self._open = open_index
        self._lock = threading.Lock()
        self._index: IndexType | None = None
        self._directory: Path | None = None
        self.state = ServedState()

    @property
    def directory(self) -> Path:
        """The folder last loaded, else the one that INDEX_DIR names, else that in this package."""
        return self._directory or Path(os.environ.get("INDEX_DIR") or PACKAGED_INDEX)

    def load(self, index_dir: str | os.PathLike[str] | None = None) -> IndexType:
        """Open an index and answer from it from now on.

        Without `index_dir` it is the folder that INDEX_DIR names, else the one in this package.
        Raises IndexUnusableError, and keeps the index served before.
        """
        directory = Path(index_dir) if index_dir else None
        opened = self._open(directory or Path(os.environ.get("INDEX_DIR") or PACKAGED_INDEX))
        self._directory = directory
        self.swap(opened, ServedState())
        return opened

    def reopen(self) -> IndexType:
        """Open what `directory` holds now, without answering from it. Raises IndexUnusableError."""
        return self._open(self.directory)

    def swap(self, index: IndexType, state: ServedState) -> None:
        """Answer from `index` from now on; what has begun goes on with the one before."""
        self._index = index
        self.state = state

    def current(self) -> IndexType:
        """The index being served, opened by the first call."""
        if self._index is None:
            with self._lock:
                if self._index is None:
                    return self.load()
        return self._index
