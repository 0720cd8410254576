"""The one index that a process answers from."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from .index import Index

IndexType = TypeVar("IndexType", bound=Index)

PACKAGED_INDEX = Path(__file__).parent / "index"


class Served(Generic[IndexType]):
    """Opens an index once and hands it out."""

    def __init__(self, open_index: Callable[[Path], IndexType]) -> None:
        self._open = open_index
        self._lock = threading.Lock()
        self._index: IndexType | None = None

    def load(self, index_dir: str | os.PathLike[str] | None = None) -> IndexType:
        """Open an index and answer from it from now on.

        Without `index_dir` it is the folder that INDEX_DIR names, else the one in this package.
        Raises IndexUnusableError, and keeps the index served before.
        """
        directory = index_dir or os.environ.get("INDEX_DIR") or PACKAGED_INDEX
        opened = self._open(Path(directory))
        self._index = opened
        return opened

    def current(self) -> IndexType:
        """The index being served, opened by the first call."""
        if self._index is None:
            with self._lock:
                if self._index is None:
                    return self.load()
        return self._index
