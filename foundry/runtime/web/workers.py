"""Several processes that answer on one socket and share the pages of one index."""

import logging
import mmap
import os
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NoReturn

RESTART_SECONDS = 1.0
"""A worker that dies sooner than this is not replaced before."""

STOP_SECONDS = 35.0
"""What is left then is killed; longer than a worker takes to finish its requests."""

BOARD_SECONDS = 1.0
BOARD_BYTES = 1 << 18

_logger = logging.getLogger(__name__)


class Board:
    """Memory that the workers share, in which each shows the others what it has counted."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._memory = mmap.mmap(-1, workers * BOARD_BYTES)
        self._worker = -1

    def keep_posted(self, worker: int, dump: Callable[[], bytes]) -> None:
        """Show, every second, what `dump` returns; ends this process if its parent has ended."""
        self._worker = worker
        parent = os.getppid()

        def post() -> None:
            while os.getppid() == parent:
                content = dump()
                if len(content) <= BOARD_BYTES - 8:
                    start = worker * BOARD_BYTES
                    # Empty while it is being written.
                    self._memory[start : start + 8] = bytes(8)
                    self._memory[start + 8 : start + 8 + len(content)] = content
                    self._memory[start : start + 8] = struct.pack("<Q", len(content))
                time.sleep(BOARD_SECONDS)
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=post, name="board", daemon=True).start()

    def others(self) -> Iterator[bytes]:
        """What the other workers show."""
        for worker in range(self._workers):
            if worker != self._worker and (content := self._read(worker)):
                yield content

    def _read(self, worker: int) -> bytes:
        start = worker * BOARD_BYTES
        for _ in range(100):
            length = self._memory[start : start + 8]
            content = self._memory[start + 8 : start + 8 + struct.unpack("<Q", length)[0]]
            if content and self._memory[start : start + 8] == length:
                return content
            time.sleep(0.001)
        return b""


class Workers:
    """Keeps `count` forked processes at work, replacing those that die, until SIGTERM or SIGINT.

    `work` gets the number of its worker, from 0, and returns when that has been told to stop.
    `stop` is called, in this process, when they are told.
    """

    def __init__(self, count: int, work: Callable[[int], None], stop: Callable[[], None]) -> None:
        self._count = count
        self._work = work
        self._on_stop = stop
        self._started: dict[int, float] = {}
        self._numbers: dict[int, int] = {}
        self._stopping = False

    def run(self) -> None:
        """Start the workers, and return when all have stopped."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        for worker in range(self._count):
            self._fork(worker)
        while self._numbers:
            try:
                pid, status = os.wait()
            except ChildProcessError:
                break
            worker = self._numbers.pop(pid)
            alive = time.monotonic() - self._started.pop(pid)
            if not self._stopping:
                fields = {"worker": worker, "exit": os.waitstatus_to_exitcode(status)}
                _logger.error("a worker died", extra={"fields": fields})
                time.sleep(max(0.0, RESTART_SECONDS - alive))
            # A signal may have come while it slept.
            if not self._stopping:
                self._fork(worker)

    def _fork(self, worker: int) -> None:
        # Held back, so that a signal that comes meanwhile finds the new worker in the table.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        pid = os.fork()
        if pid == 0:
            self._run_worker(worker)
        self._numbers[pid] = worker
        self._started[pid] = time.monotonic()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})

    def _run_worker(self, worker: int) -> NoReturn:
        code = 1
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
            self._work(worker)
            code = 0
        except BaseException:
            _logger.exception("a worker failed")
        finally:
            # Not further up: what the parent would do when it ends is not the worker's to do.
            os._exit(code)

    def _stop(self, number: int, _frame: object) -> None:
        if number == signal.SIGALRM:
            self._signal(signal.SIGKILL)
            return
        if not self._stopping:
            self._stopping = True
            self._on_stop()
            signal.signal(signal.SIGALRM, self._stop)
            signal.setitimer(signal.ITIMER_REAL, STOP_SECONDS)
        self._signal(signal.SIGTERM)

    def _signal(self, number: signal.Signals) -> None:
        for pid in self._numbers:
            # It may have ended a moment ago.
            with suppress(ProcessLookupError):
                os.kill(pid, number)
