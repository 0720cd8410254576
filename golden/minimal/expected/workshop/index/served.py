"""The index that a process answers from: opened once, then replaced by each newer one.

Large files are hashed while it is served already; once one proves damaged, nothing is answered.
"""

import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from .errors import IndexUnusableError
from .layout import resolve_version
from .reader import Index

PACKAGED_INDEX = Path(__file__).parents[1] / "data"
POLL_SECONDS = 1.0
NOT_RELOADED = "the index published last cannot be used; the one before is still served"

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServedState:
    """The state of the served index: `damage` names the files that differ from their hashes.

    `problem` says what else is wrong, and names no file of this machine.
    """

    verified: bool = False
    problem: str | None = None
    damage: tuple[str, ...] = ()


class Served:
    """Hands out the index that `open_index` opens, one version to a caller that asks once."""

    open_index: Callable[[Path], Index]

    def __init__(self) -> None:
        self.state = ServedState()
        self._directory = PACKAGED_INDEX
        self._index: Index | None = None
        self._lock = threading.RLock()

    def load(
        self, index_dir: str | os.PathLike[str] | None = None, *, verify: bool = True
    ) -> Index:
        """Answer from an index from now on, by default that of INDEX_DIR or of this package.

        Raises IndexUnusableError, and changes nothing then.
        """
        directory = Path(index_dir or os.environ.get("INDEX_DIR") or PACKAGED_INDEX)
        index = self.open_index(directory)
        with self._lock:
            self._directory, self._index, self.state = directory, index, ServedState()
        if verify:
            threading.Thread(target=self._verify, args=(index,), name="verify", daemon=True).start()
        return index

    def current(self) -> Index:
        """Return the served index. Raises IndexUnusableError, also once a file proves damaged."""
        index = self._index
        if index is None:
            with self._lock:
                index = self._index or self.load()
        if damaged := "; ".join(self.state.damage):
            reason = f"Files of the index are damaged: {damaged}"
            raise IndexUnusableError(f"{self._directory}: damaged: {damaged}", reason=reason)
        return index

    def follow(
        self, count: Callable[[str], object], poll_seconds: float = POLL_SECONDS
    ) -> threading.Event:
        """Verify the served index, then serve each that is published, until the event is set.

        A thread hashes all of a new version, which also brings it into the page cache, before one
        assignment makes it the served one. `count` is called with `ok` or `refused`.
        """
        stop = threading.Event()
        seen = self._published()

        def watch() -> None:
            nonlocal seen
            if self._index is not None:
                self._verify(self._index)
            while not stop.wait(poll_seconds):
                if (published := self._published()) != seen:
                    seen = published
                    count("ok" if self._reload() else "refused")

        threading.Thread(target=watch, name="reloader", daemon=True).start()
        return stop

    def _published(self) -> object:
        """Return a value that changes when an index is published or a damaged file is replaced."""
        try:
            files = sorted(resolve_version(self._directory).rglob("*"))
            found = [(path, path.stat()) for path in files]
        except (OSError, IndexUnusableError) as error:
            return type(error)
        return [(path, stat.st_ino, stat.st_size, stat.st_mtime_ns) for path, stat in found]

    def _reload(self) -> bool:
        try:
            index = self.open_index(self._directory)
            if findings := index.verify():
                raise IndexUnusableError(f"{index.layout.root}: damaged: {'; '.join(findings)}")
        except Exception as error:
            # Damage may show in ways that nobody has foreseen, and must not end the thread.
            _logger.error("the index published last is not served: %r", error)
            with self._lock:
                self.state = replace(self.state, problem=NOT_RELOADED)
            return False
        with self._lock:
            self._index, self.state = index, ServedState(verified=True)
        _logger.info("serving index %s now", index.version)
        return True

    def _verify(self, index: Index) -> None:
        try:
            findings = index.verify()
        except Exception as error:
            findings = [repr(error)]  # As above.
        if findings:
            _logger.error("the index is damaged: %s", "; ".join(findings))
        with self._lock:
            if self._index is index:
                self.state = replace(self.state, verified=not findings, damage=tuple(findings))


served = Served()
"""The one index that this process answers from; `search` says how it is opened."""

load = served.load
current_index = served.current
