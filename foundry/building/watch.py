"""Rebuilds after changes to a source folder, a table or foundry.toml.

Folders are watched by notifications of the system (`folder_changes.py`). Single files, which
editors often replace, are checked five times a second. Websites and git repositories are not
watched.
"""

import ctypes
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from foundry.building.options import BuildResult
from foundry.config.extras import require
from foundry.config.project import load_config
from foundry.config.sources import FolderSource, RecordsSource, Source
from foundry.errors import BusyError, FoundryError
from foundry.files import CONFIG_NAME
from foundry.runtime.errors import ServerError
from foundry.serving.options import Watched
from foundry.state.folder import STATE

QUIET_SECONDS = 0.2
"""A change to a single file counts as complete when no other change follows within this time."""

BUSY_SECONDS = 0.5
"""Interval at which a waiting build checks whether another build has ended."""

M_ARENA_MAX = -8
"""The number of this option in glibc's malloc.h."""

_Looks = list[tuple[int, int, int] | None]


def build_after_changes(
    project: Path, build: Callable[[], BuildResult]
) -> Iterator[BuildResult | Watched | FoundryError | ServerError | OSError]:
    """Call `build` now and after each change, until the process is interrupted.

    Yields the results and exceptions of `build`, and reports about watched folders. Raises
    MissingExtraError at once if the library for watching is not installed.
    """
    require(["watch"])
    share_one_heap()
    return (news or _try(build) for news in _changes_of(project))


def _try(build: Callable[[], BuildResult]) -> BuildResult | FoundryError | ServerError | OSError:
    while True:
        try:
            return build()
        except BusyError:
            time.sleep(BUSY_SECONDS)
        except (FoundryError, ServerError, OSError) as error:
            return error
        finally:
            _return_freed_memory()


def share_one_heap() -> None:
    """Let all threads that start from now on allocate from the main heap.

    glibc gives threads up to eight heaps (arenas) per core, and malloc_trim does not release the
    top of each.
    """
    if sys.platform == "linux":
        with suppress(AttributeError):  # Only glibc has this function.
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def _return_freed_memory() -> None:
    """Return freed memory to the system; otherwise glibc keeps it for this process."""
    if sys.platform == "linux":
        with suppress(AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


def _changes_of(project: Path) -> Iterator[Watched | None]:
    """Yield None at once and after each change, and Watched whenever the watches have changed.

    Changes during a build are delivered after it.
    """
    yield None
    told = None
    while True:
        config = project / CONFIG_NAME
        before = _look_at([config])
        sources = _load_sources(project)
        for found in _changes_until_other_sources(project, before, sources):
            if found is None:
                yield None
                continue
            left = tuple(each for each in found.left if told is None or each not in told.left)
            if told is None or left or found.reason != told.reason:
                yield replace(found, left=left)
            told = found
        _wait_until_settled(config)
        yield None


def _changes_until_other_sources(
    project: Path, config: _Looks, sources: Sequence[Source] | None
) -> Iterator[Watched | None]:
    folders = [source for source in sources or () if isinstance(source, FolderSource)]
    tables = [source.path for source in sources or () if isinstance(source, RecordsSource)]
    roots = _identify(folders)
    built = pending = _look_at(tables)
    has_begun = sources is None
    current = project / STATE / "index" / "CURRENT"
    published = _look_at([current])
    for has_changed in _watch(folders):
        if isinstance(has_changed, Watched):
            yield has_changed
            continue
        found = _look_at(tables)
        is_settled, pending = found == pending, found
        is_mended = sources is None and _load_sources(project) is not None
        if is_mended or _look_at([project / CONFIG_NAME]) != config or _identify(folders) != roots:
            return
        # Build again if another process has replaced the published index.
        is_replaced = _look_at([current]) != published
        if has_changed or not has_begun or is_replaced or (is_settled and found != built):
            # The first round is included, because something may have changed before the watches
            # were set up.
            has_begun, built = True, found
            yield None
            published = _look_at([current])


def _load_sources(project: Path) -> tuple[Source, ...] | None:
    """Return the sources; None if foundry.toml is unusable, which the build has reported."""
    try:
        return load_config(project).sources
    except FoundryError:
        return None


def _watch(sources: Sequence[FolderSource]) -> Iterator[bool | Watched]:
    """Yield whether sources have changed: five times a second, and at once after a change."""
    if not any(map(_is_open, sources)):
        while True:
            time.sleep(QUIET_SECONDS)
            yield False
    # The watching library is an extra.
    from foundry.building.folder_changes import watch_folders

    yield from watch_folders(sources)


def _look_at(files: Sequence[Path]) -> _Looks:
    found: _Looks = []
    for file in files:
        try:
            status = file.stat()
        except OSError:
            found.append(None)
        else:
            found.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return found


def _identify(sources: Sequence[FolderSource]) -> list[tuple[int | None, bool]]:
    return [
        (look and look[0], _is_open(source))
        for source, look in zip(sources, _look_at([each.path for each in sources]), strict=True)
    ]


def _is_open(source: FolderSource) -> bool:
    return os.access(source.path, os.R_OK | os.X_OK)


def _wait_until_settled(file: Path) -> None:
    before = None
    while (found := _look_at([file])) != before:
        before = found
        time.sleep(QUIET_SECONDS)
