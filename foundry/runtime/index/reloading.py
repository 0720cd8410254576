"""Serving a new index without a restart: what INDEX_DIR publishes is opened aside, then swapped in.

Publishing replaces the file CURRENT. The new version is opened, and hashed from end to end, which
also brings it into the page cache; then one assignment makes it the one that is served, and
searches that have begun finish on the old one. A version that cannot be used is left alone.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import replace

from .errors import IndexUnusableError
from .files import resolve_version
from .served import Served, ServedState

POLL_SECONDS = 1.0

NOT_RELOADED = "the index published last cannot be used; the one before is still served"

_logger = logging.getLogger(__name__)


class Reloader:
    """Serves each index that is published after the one that is served.

    In a thread of its own; what it finds is in the state of `served`, and in the log.
    """

    def __init__(
        self,
        served: Served,
        count: Callable[[str], object],
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        """Watch what `served` serves.

        `count` is called with what became of each index that is published: `ok` or `refused`.
        """
        self._served = served
        self._count = count
        self._poll_seconds = poll_seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reloader", daemon=True)
        self._seen: object = None

    def start(self) -> None:
        """Begin; the thread ends with the process, or with `stop`."""
        self._seen = self._published()
        self._thread.start()

    def stop(self) -> None:
        """End, and wait for that."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._poll_seconds):
            published = self._published()
            if published != self._seen:
                self._seen = published
                self._reload()

    def _published(self) -> object:
        """Something that changes whenever another index is published, or a damaged one mended."""
        try:
            version = resolve_version(self._served.directory)
            watched = [version / "manifest.json"]
            if self._served.state.damage:
                watched += sorted(path for path in version.rglob("*") if path.is_file())
            found = [(path, path.stat()) for path in watched]
        except (OSError, IndexUnusableError) as error:
            return type(error)
        return [(path, its.st_ino, its.st_size, its.st_mtime_ns) for path, its in found]

    def _reload(self) -> None:
        try:
            opened = self._served.reopen()
            findings = opened.verify()
        except IndexUnusableError as error:
            self._refuse(error.message)
        except Exception as error:
            # Damage may show in ways that nobody has foreseen, and must not end this thread.
            self._refuse(repr(error))
        else:
            if findings:
                self._refuse(f"{opened.layout.root}: damaged: {'; '.join(findings)}")
                return
            self._served.swap(opened, ServedState(verified=True))
            self._count("ok")
            _logger.info("serving index %s now", opened.version)

    def _refuse(self, reason: str) -> None:
        self._count("refused")
        _logger.error("the index published last is not served: %s", reason)
        self._served.state = replace(self._served.state, problem=NOT_RELOADED)
