"""Watches exactly the folders that builds read, using the system's file notifications.

Each folder has its own watch, because a recursive watch would follow links and fail at the first
unreadable folder. Folders are found in the same way as in builds, and again after each change that
may have created or removed one.
"""

import os
import sys
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from watchfiles import Change, watch

from foundry.config.sources import FolderSource
from foundry.documents import Skipped
from foundry.documents.reasons import Reason
from foundry.errors import SourceError
from foundry.runtime.index.names import indexed_name
from foundry.serving.options import Watched
from foundry.sources.folder import find_folders
from foundry.sources.ignoring import concerns_any

QUIET_MS = 200
"""A change counts as complete when no other change follows within this time."""

LONGEST_MS = 10_000
"""A build starts after this time, even if changes continue."""

MAX_FOLDERS = 10_000
"""Maximum number of watched folders, since each watch takes about 1 KB of kernel memory."""

_REMEDY = "exclude some, or raise fs.inotify.max_user_watches and max_user_instances"

_TRIES = 5
"""Attempts to start watching if the system refuses without naming a folder."""

# FSEvents on macOS watches everything below a folder by path, without following links.
_SEES_BELOW = sys.platform == "darwin"

_Changes = Generator[set[tuple[Change, str]], None, None]


def watch_folders(sources: Sequence[FolderSource]) -> Generator[bool | Watched, None, None]:
    """Yield whether folders have changed: five times a second, and at once after a change.

    Whenever watches are set up, yields Watched, and then True for changes that were missed.
    """
    folders = _Folders(sources)
    concerns = concerns_any(sources)
    while True:
        found = folders.find()
        begun = _begin(found)
        with closing(begun.changes) as changes:
            left = folders.left(begun.refused)
            yield Watched(begun.watched, len(found) - len(begun.refused), begun.reason, left)
            yield True
            if folders.find() != found:
                continue
            try:
                for changed in changes:
                    paths = [path for _, path in changed]
                    if folders.may_differ(paths) and folders.find() != found:
                        break
                    yield any(map(concerns, paths))
            # The library raises this error for a file whose name is not UTF-8.
            except RuntimeError:
                continue


class _Folders:
    """The folders of sources to watch."""

    def __init__(self, sources: Sequence[FolderSource]) -> None:
        self._sources = sources
        self._found: dict[str, str] = {}
        self._left: list[Skipped] = []

    def find(self) -> list[str]:
        """Return the paths of the folders, those with the fewest parts first."""
        self._found, self._left = {}, []
        for source in self._sources:
            try:
                for found in find_folders(source):
                    self._sort(source, found)
            # A build reports problems of a whole source as errors.
            except SourceError:
                continue
        return sorted(self._found, key=lambda path: path.count("/"))

    def left(self, refused: Mapping[str, str]) -> tuple[Skipped, ...]:
        """Return the folders that cannot be watched, including those that the system `refused`."""
        more = [_leave(self._found[path], path, reason) for path, reason in refused.items()]
        return (*self._left, *more)

    def may_differ(self, changed: Iterable[str]) -> bool:
        """Return whether changes to these paths may have created or removed a folder."""
        return any(
            path in self._found
            or os.path.isdir(path)  # noqa: PTH112
            or os.path.basename(path) == ".gitignore"  # noqa: PTH119
            for path in changed
        )

    def _sort(self, source: FolderSource, found: str | Skipped) -> None:
        if isinstance(found, Skipped):
            # Other skipped folders are watched under another name, or not read by any build.
            if found.reason == Reason.CANNOT_BE_READ:
                self._left.append(found)
            return
        try:
            found.encode()
        except UnicodeEncodeError:
            self._left.append(_leave(source.name, found, "its name is not UTF-8"))
        else:
            self._found.setdefault(found, source.name)


def _leave(source: str, path: str, reason: str) -> Skipped:
    return Skipped(source, indexed_name(path), Reason.CANNOT_BE_READ, reason)


class _Begun(NamedTuple):
    """Active watches, and the folders `refused`, with reasons.

    If a limit applied, `reason` says which.
    """

    changes: _Changes
    watched: int
    refused: Mapping[str, str]
    reason: str


def _begin(folders: Sequence[str]) -> _Begun:
    """Watch as many of the folders as possible, in order."""
    wanted = list(folders[:MAX_FOLDERS])
    reason = (
        f"at most {MAX_FOLDERS:,} can be watched; exclude some"
        if len(folders) > MAX_FOLDERS
        else ""
    )
    refused: dict[str, str] = {}
    tries = _TRIES
    while wanted:
        changes = _watch(wanted)
        try:
            next(changes)
        except OSError as error:
            said, _, where = str(error).partition(" about ")
            culprits = [path for path in wanted if f'"{path}"' in where]
            is_own = isinstance(error, FileNotFoundError | PermissionError)
            if is_own and culprits:
                # A folder that is missing now was removed in the meantime.
                there = [path for path in wanted if Path(path).is_dir()]
                refused.update((path, said) for path in there if path in culprits)
                wanted = [path for path in there if path not in culprits]
            else:
                # Wait, because a background thread of the library removes the previous watches.
                time.sleep(QUIET_MS / 1000)
                # Leave other programs some watches below the limit.
                wanted, reason = wanted[: len(wanted) // 2], f"{said.rstrip('.')}; {_REMEDY}"
        except RuntimeError as error:
            tries -= 1
            wanted, reason = (wanted, reason) if tries else ([], f"{error}; {_REMEDY}")
            time.sleep(QUIET_MS / 1000)
        else:
            return _Begun(changes, len(wanted), refused, reason)
    return _Begun(_no_changes(), 0, refused, reason)


def _watch(folders: Sequence[str]) -> _Changes:
    known = set(folders)
    roots = [path for path in folders if os.path.dirname(path) not in known]  # noqa: PTH120
    return watch(
        *(roots if _SEES_BELOW else folders),
        watch_filter=None,
        step=QUIET_MS,
        debounce=LONGEST_MS,
        rust_timeout=QUIET_MS,
        yield_on_timeout=True,
        recursive=_SEES_BELOW and len(roots) < len(folders),
    )


def _no_changes() -> _Changes:
    while True:
        time.sleep(QUIET_MS / 1000)
        yield set()
