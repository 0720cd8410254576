"""Serves from several processes that share an address and the memory of the index."""

import argparse
import atexit
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from ..errors import ServerError
from ..index.reader import load
from .process import STOP_SIGNALS

MAX_WORKERS = 256
COUNTS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
SIGNALS = {*STOP_SIGNALS, signal.SIGCHLD}

_logger = logging.getLogger(__name__)


def add_workers(commands: Any) -> None:
    """Add the option `--workers` to the command `serve`."""
    about = "number of server processes (%(default)s)"
    add = commands.choices["serve"].add_argument
    add("--workers", type=_read_count, default=1, metavar="N", help=about)


def _read_count(written: str) -> int:
    count = int(written) if written.isdecimal() else 0
    if not 1 <= count <= MAX_WORKERS:
        raise argparse.ArgumentTypeError(f"takes 1 to {MAX_WORKERS}")
    return count


def share_counts(workers: int) -> None:
    """Create a folder for the metrics of several workers, unless COUNTS_VARIABLE names one.

    Must be called before prometheus-client is imported. Raises ServerError if creating it fails.
    """
    if workers < 2 or COUNTS_VARIABLE in os.environ:
        return
    # Imported when needed, since every command imports this module for its options.
    from tempfile import TemporaryDirectory

    try:
        folder = TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    except OSError as error:
        problem = f"several workers need a folder for their metrics: {error}"
        hint = "set TMPDIR to a writable folder, or serve with one worker"
        raise ServerError(problem, hint=hint) from None
    # The folder is removed when this process ends; workers exit without running this.
    atexit.register(folder.cleanup)
    os.environ[COUNTS_VARIABLE] = folder.name


def run_workers(count: int, run: Callable[[], None], listener: socket.socket) -> None:
    """Keep `count` worker processes running until SIGTERM or SIGINT, replacing those that die.

    Workers are forked, so they share loaded memory; uvicorn's own workers are spawned, and outlive
    their parent.
    """
    received, waking = socket.socketpair()
    waking.setblocking(False)
    for number in SIGNALS:
        signal.signal(number, lambda *_: None)
    with received, waking:
        # A signal may arrive in any thread. `sigwait` would miss it in another thread; a wake-up
        # descriptor does not.
        before = signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
        try:
            _keep_at_work({_fork(run) for _ in range(count)}, run, listener, received)
        finally:
            signal.set_wakeup_fd(before)


def _keep_at_work(
    workers: set[int], run: Callable[[], None], listener: socket.socket, received: socket.socket
) -> None:
    is_stopping = False
    while workers:
        if STOP_SIGNALS.intersection(received.recv(256)):
            is_stopping = True
            # Otherwise the kernel would accept connections that no worker takes.
            listener.close()
            for pid in workers:
                os.kill(pid, signal.SIGTERM)
        for pid in list(workers):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                workers.remove(pid)
            if ended and not is_stopping:
                fields = {"worker": pid, "exit": os.waitstatus_to_exitcode(status)}
                _logger.error("a worker died", extra={"fields": fields})
                # A worker that cannot start must not keep a core busy.
                time.sleep(1.0)
                workers.add(_fork(run))


def _fork(run: Callable[[], None]) -> int:
    parent = os.getpid()
    # Signals stay blocked in a new worker until it has its own handlers.
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    if pid := os.fork():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return pid
    try:
        signal.set_wakeup_fd(-1)
        # The index is opened again, because its connections belong to one process.
        load(verify=False)
        threading.Thread(target=_stop_without, args=(parent,), daemon=True).start()
        run()
        os._exit(0)
    except BaseException:
        _logger.exception("a worker failed")
    finally:
        # An exception would run the parent's cleanup.
        os._exit(1)


def _stop_without(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGTERM)
