"""The index that a process answers from: opened once, handed out, and replaced by newer ones.

Opening compares sizes, and small files with their hashes, which takes milliseconds. Large files are
hashed in a thread of their own, meanwhile the index answers; if one is damaged, it answers no more.
"""

import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from .arrays import REBUILD_HINT
from .errors import IndexUnusableError, ServerError
from .files import resolve_version
from .reader import Index

PACKAGED_INDEX = Path(__file__).parents[1] / "data"
POLL_SECONDS = 1.0
NOT_RELOADED = "the index published last cannot be used; the one before is still served"

Search = TypeVar("Search", bound=Callable[..., Any])

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServedState:
    """What is known about the index being served.

    Attributes:
        verified: Whether every file has been compared with its hash.
        problem: What is not as it should be, in words that name no file of this machine.
        damage: What was found to be wrong with files of the index, each named; nothing is answered
            from it then.
    """

    verified: bool = False
    problem: str | None = None
    damage: tuple[str, ...] = ()


class Served:
    """Opens an index once and hands it out.

    A caller that asks for `current` once and works with that sees one version throughout.
    """

    def __init__(self, open_index: Callable[[Path], Index] | None = None) -> None:
        self._opener = open_index
        self._opening = threading.Lock()
        self._changing = threading.Lock()
        self._index: Index | None = None
        self._directory: Path | None = None
        self._verifying: threading.Thread | None = None
        self.state = ServedState()

    def open_with(self, open_index: Callable[[Path], Index]) -> None:
        """Have `open_index` open the folder of an index, from the next time on."""
        self._opener = open_index

    @property
    def directory(self) -> Path:
        """The folder last loaded, else the one that INDEX_DIR names, else that in this package."""
        return self._directory or Path(os.environ.get("INDEX_DIR") or PACKAGED_INDEX)

    def load(
        self, index_dir: str | os.PathLike[str] | None = None, *, verify: bool = True
    ) -> Index:
        """Open an index and answer from it from now on.

        Without `index_dir` it is the folder that INDEX_DIR names, else the one in this package.
        `verify` has its large files hashed meanwhile. Raises IndexUnusableError, and keeps the
        index served before.
        """
        directory = Path(index_dir) if index_dir else None
        opened = self._open(directory or Path(os.environ.get("INDEX_DIR") or PACKAGED_INDEX))
        self._directory = directory
        self._swap(opened, ServedState())
        if verify:
            self.verify_meanwhile(opened)
        return opened

    def current(self) -> Index:
        """Return the index being served, opened by the first call.

        Raises IndexUnusableError, also if files of it turned out to be damaged.
        """
        index = self._index
        if index is None:
            with self._opening:
                index = self._index or self.load()
        if damage := self.state.damage:
            raise IndexUnusableError(
                f"{self.directory}: damaged: {'; '.join(damage)}", hint=REBUILD_HINT
            )
        return index

    def verify_meanwhile(self, index: Index) -> None:
        """Compare all files of an index with their hashes, in a thread; see `state` for the end."""
        self._verifying = threading.Thread(
            target=self._verify, args=(index,), name="verify", daemon=True
        )
        self._verifying.start()

    def wait_until_verified(self) -> None:
        """Wait until all files of the index have been compared with their hashes."""
        if self._verifying is not None:
            self._verifying.join()

    def explaining(self, search: Search) -> Search:
        """Return `search`, whose errors that come of damage are IndexUnusableErrors."""

        @wraps(search)
        def explained(*arguments: Any, **options: Any) -> Any:
            try:
                return search(*arguments, **options)
            except ServerError:
                raise
            except Exception:
                self.wait_until_verified()
                self.current()
                raise

        return cast(Search, explained)

    def follow(
        self, count: Callable[[str], object], poll_seconds: float = POLL_SECONDS
    ) -> threading.Event:
        """Answer from each index that is published from now on, without a restart.

        A thread opens the new version and hashes it from end to end, which also brings it into the
        page cache; then one assignment makes it the one that is served, and searches that have
        begun finish on the old one. A version that cannot be used is left alone. `count` is called
        with what became of each, `ok` or `refused`. The thread ends with the process, or when the
        event that is returned is set.
        """
        stop = threading.Event()
        seen = self._published()

        def watch() -> None:
            nonlocal seen
            while not stop.wait(poll_seconds):
                if (published := self._published()) != seen:
                    seen = published
                    count("ok" if self._reload() else "refused")

        threading.Thread(target=watch, name="reloader", daemon=True).start()
        return stop

    def _published(self) -> object:
        """Return what changes when another index is published, or a damaged one is mended."""
        try:
            version = resolve_version(self.directory)
            watched = [version / "manifest.json"]
            if self.state.damage:
                watched += sorted(path for path in version.rglob("*") if path.is_file())
            found = [(path, path.stat()) for path in watched]
        except (OSError, IndexUnusableError) as error:
            return type(error)
        return [(path, its.st_ino, its.st_size, its.st_mtime_ns) for path, its in found]

    def _reload(self) -> bool:
        try:
            opened = self._open(self.directory)
            if findings := opened.verify():
                raise IndexUnusableError(f"{opened.layout.root}: damaged: {'; '.join(findings)}")
        except Exception as error:
            # Damage may show in ways that nobody has foreseen, and must not end the thread.
            reason = error.message if isinstance(error, ServerError) else repr(error)
            _logger.error("the index published last is not served: %s", reason)
            with self._changing:
                self.state = replace(self.state, problem=NOT_RELOADED)
            return False
        self._swap(opened, ServedState(verified=True))
        _logger.info("serving index %s now", opened.version)
        return True

    def _open(self, directory: Path) -> Index:
        assert self._opener is not None, "the module `opening` has not been imported"
        return self._opener(directory)

    def _swap(self, index: Index, state: ServedState) -> None:
        with self._changing:
            self._index, self.state = index, state

    def _verify(self, index: Index) -> None:
        try:
            findings = index.verify()
        except Exception as error:
            # Damage may show in ways that nobody has foreseen, and must not get lost.
            findings = [repr(error)]
        if findings:
            _logger.error("the index is damaged: %s", "; ".join(findings))
        with self._changing:
            if self._index is index:
                self.state = replace(self.state, verified=not findings, damage=tuple(findings))


served = Served()
"""The one index that this process answers from; `opening` says how it is opened."""

load = served.load
current_index = served.current
