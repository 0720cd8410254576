"""Replaces the served index when a new version is published."""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..errors import IndexUnusableError
from .layout import resolve_version
from .reader import Served
from .tree import walk

POLL_SECONDS = 0.25
NOT_RELOADED = "the latest published index cannot be used; the previous one is still served"

_logger = logging.getLogger(__name__)


def follow(served: Served, count: Callable[[str], object] = lambda _: None) -> threading.Event:
    """Verify the served index, then serve each new version, until the returned event is set.

    `count` is called with `ok` or `refused`. After damage or a refused version, any replaced file
    counts as a new version.
    """
    stop = threading.Event()
    # A version may have been published while the served one was being opened.
    seen = [] if served.is_replaced(served.whole()) else _stamps(served.directory)

    def watch() -> None:
        nonlocal seen
        served.verify()
        while not stop.wait(POLL_SECONDS):
            is_wrong = bool(served.state.damage or served.state.problem)
            found = _stamps(served.directory, every_file=is_wrong)
            if found != (seen if is_wrong else seen[: len(found)]):
                seen = _stamps(served.directory)
                count("ok" if _reload(served) else "refused")

    threading.Thread(target=watch, name="reloader", daemon=True).start()
    return stop


def _reload(served: Served) -> bool:
    try:
        index = served.open_index(served.directory)
        if findings := index.verify():
            raise IndexUnusableError(f"{index.layout.root}: damaged: {'; '.join(findings)}")
    except Exception as error:
        # Damage can cause any error, and none may end the thread.
        _logger.error("the latest published index is not served: %r", error)
        served.report(NOT_RELOADED)
        return False
    served.replace(index)
    _logger.info("serving index %s now", index.version)
    return True


def _stamps(directory: Path, *, every_file: bool = True) -> list[object]:
    """Return stamps that change when CURRENT, the manifest or, optionally, any file is replaced."""
    paths = [directory / "CURRENT", directory / "manifest.json"]
    if every_file:
        with suppress(OSError, IndexUnusableError):
            version = resolve_version(directory)
            paths += [version / entry.path for entry in walk(version)]
    return [(path, _stamp(path)) for path in paths]


def _stamp(path: Path) -> object:
    try:
        stat = path.stat()
    except OSError as error:
        return type(error)
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
