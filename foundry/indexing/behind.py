"""Writes files in background threads during a build."""

from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from pathlib import Path

COPIED_BYTES = 1 << 20
"""Bytes written or copied at a time.

Files are copied in blocks, since pages read from a mapped file would count as this process's
memory.
"""

HANDED_OVER = 16
"""Maximum number of blocks, or spans of another file, that wait to be written."""


class FileBehind:
    """A file written by a background thread. Always call `close`.

    Write errors are raised by a later call, or by `close`.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._thread = ThreadPoolExecutor(1)
        self._waiting: list[bytes | memoryview] = []
        self._waiting_bytes = 0
        self._handed_over: deque[Future[None]] = deque()

    def write(self, content: bytes | memoryview) -> None:
        """Write bytes, which must not change afterwards."""
        self._waiting.append(content)
        self._waiting_bytes += memoryview(content).nbytes
        if self._waiting_bytes >= COPIED_BYTES:
            self.copy(())

    def copy(self, blocks: Iterable[bytes]) -> None:
        """Write blocks, which the background thread computes."""
        written = self._thread.submit(self._file.writelines, chain(self._waiting, blocks))
        self._handed_over.append(written)
        self._waiting, self._waiting_bytes = [], 0
        if len(self._handed_over) > HANDED_OVER:
            self._handed_over.popleft().result()

    def close(self, head: bytes = b"") -> None:
        """Write everything that is queued, then write `head` over the first bytes."""
        if not self._file.closed:
            with self._file:
                self.copy(())
                self._thread.shutdown()
                for written in self._handed_over:
                    written.result()
                self._file.seek(0)
                self._file.write(head)
