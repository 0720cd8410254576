"""Notice when to build again: a source's folder, a table or foundry.toml has changed.

Folders are watched by what the system notices; the few single files, which editors like to replace,
are looked at five times a second. Sources of the web are not watched.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from foundry.assembly.options import BuildResult
from foundry.config.extras import require
from foundry.config.project import load_config
from foundry.config.sources import CONFIG_NAME, FolderSource, RecordsSource, Source
from foundry.errors import BusyError, FoundryError
from foundry.runtime.errors import ServerError
from foundry.sources.ignoring import concerns_any, enters_folders
from foundry.state.folder import STATE

QUIET_MS = 200
"""A change counts as complete after this time without another."""

LONGEST_MS = 10_000
"""A build begins after this time, even if changes go on."""

BUSY_SECONDS = 0.5
"""A build that waits for another checks this often whether it has ended."""

_Looks = list[tuple[int, int, int] | None]


def build_after_changes(
    project: Path, build: Callable[[], BuildResult]
) -> Iterator[BuildResult | FoundryError | ServerError | OSError]:
    """Call `build` now and after each change, until the process is interrupted; yield what it
    returns or raises.

    Raises MissingExtraError at once.
    """
    require(["watch"])
    return (_try(build) for _ in _changes_of(project))


def _try(build: Callable[[], BuildResult]) -> BuildResult | FoundryError | ServerError | OSError:
    while True:
        try:
            return build()
        except BusyError:
            time.sleep(BUSY_SECONDS)
        except (FoundryError, ServerError, OSError) as error:
            return error


def _changes_of(project: Path) -> Iterator[None]:
    """Yield at once, and again after each change.

    What changes while a build is going on is delivered when it has ended.
    """
    yield
    while True:
        config = project / CONFIG_NAME
        before = _look_at([config])
        sources = _load_sources(project)
        yield from _changes_until_other_sources(project, before, sources)
        _wait_until_settled(config)
        yield


def _changes_until_other_sources(
    project: Path, config: _Looks, sources: Sequence[Source] | None
) -> Iterator[None]:
    folders = [source for source in sources or () if isinstance(source, FolderSource)]
    tables = [source.path for source in sources or () if isinstance(source, RecordsSource)]
    roots = _identify(folders)
    built = pending = _look_at(tables)
    has_begun = sources is None
    current = project / STATE / "index" / "CURRENT"
    published = _look_at([current])
    for has_changed in _watch_folders(folders):
        found = _look_at(tables)
        is_settled, pending = found == pending, found
        is_mended = sources is None and _load_sources(project) is not None
        if is_mended or _look_at([project / CONFIG_NAME]) != config or _identify(folders) != roots:
            return
        # What others have put in the place of what was published must not stay in service.
        is_replaced = _look_at([current]) != published
        if has_changed or not has_begun or is_replaced or (is_settled and found != built):
            # The first time for what has changed before anything was watched.
            has_begun, built = True, found
            yield
            published = _look_at([current])


def _load_sources(project: Path) -> tuple[Source, ...] | None:
    """Return the sources; None for an unusable foundry.toml, which the build has reported."""
    try:
        return load_config(project).sources
    except FoundryError:
        return None


def _watch_folders(sources: Sequence[FolderSource]) -> Iterator[bool]:
    """Yield whether they have changed: five times a second, and at once after a change."""
    paths = [source.path for source in sources if source.path.is_dir()]
    if not paths:
        while True:
            time.sleep(QUIET_MS / 1000)
            yield False
    from watchfiles import watch

    concerns = concerns_any(sources)
    for changes in watch(
        *paths,
        watch_filter=lambda _, path: concerns(path),
        step=QUIET_MS,
        debounce=LONGEST_MS,
        rust_timeout=QUIET_MS,
        yield_on_timeout=True,
        # Around a single file that is served there may be anything.
        recursive=any(enters_folders(source) for source in sources),
    ):
        yield bool(changes)


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


def _identify(sources: Sequence[FolderSource]) -> list[int | None]:
    return [look and look[0] for look in _look_at([source.path for source in sources])]


def _wait_until_settled(file: Path) -> None:
    before = None
    while (found := _look_at([file])) != before:
        before = found
        time.sleep(QUIET_MS / 1000)
