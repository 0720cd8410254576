"""Opening an index once for a process, handing it out, and swapping in another.

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
from .reader import Index

Search = TypeVar("Search", bound=Callable[..., Any])

PACKAGED_INDEX = Path(__file__).parents[1] / "data"

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServedState:
    """What is known about the index being served; see `reloading`.

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
        self._lock = threading.Lock()
        self._state_lock = threading.Lock()
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
        self.swap(opened, ServedState())
        if verify:
            self.verify_meanwhile(opened)
        return opened

    def verify_meanwhile(self, index: Index) -> None:
        """Compare all files of an index with their hashes, in a thread; see `state` for the end."""
        self._verifying = threading.Thread(
            target=self._verify, args=(index,), name="verify", daemon=True
        )
        self._verifying.start()

    def reopen(self) -> Index:
        """Open what `directory` holds now, without answering from it. Raises IndexUnusableError."""
        return self._open(self.directory)

    def swap(self, index: Index, state: ServedState) -> None:
        """Answer from `index` from now on; what has begun goes on with the one before."""
        with self._state_lock:
            self._index = index
            self.state = state

    def current(self) -> Index:
        """The index being served, opened by the first call.

        Raises IndexUnusableError, also if files of it turned out to be damaged.
        """
        index = self._index
        if index is None:
            with self._lock:
                index = self._index or self.load()
        if damage := self.state.damage:
            raise IndexUnusableError(
                f"{self.directory}: damaged: {'; '.join(damage)}", hint=REBUILD_HINT
            )
        return index

    def wait_until_verified(self) -> None:
        """Wait until all files of the index have been compared with their hashes."""
        if self._verifying is not None:
            self._verifying.join()

    def explaining(self, search: Search) -> Search:
        """`search`; an error that it fails with because of damage is an IndexUnusableError."""

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

    def _open(self, directory: Path) -> Index:
        assert self._opener is not None, "the module `opening` has not been imported"
        return self._opener(directory)

    def _verify(self, index: Index) -> None:
        try:
            findings = index.verify()
        except Exception as error:
            # Damage may show in ways that nobody has foreseen, and must not get lost.
            findings = [repr(error)]
        if findings:
            _logger.error("the index is damaged: %s", "; ".join(findings))
        with self._state_lock:
            if self._index is index:
                self.state = replace(self.state, verified=not findings, damage=tuple(findings))


served = Served()
"""The one index that this process answers from; `opening` says how it is opened."""

load = served.load
current_index = served.current
