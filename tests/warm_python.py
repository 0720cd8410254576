"""Interpreters that import their libraries before they run any code.

Importing a server's libraries takes longer than most tests. So one process imports them, and forks
another for each request: `command(libraries)` returns the start of a command that behaves like
`python -I -B -X utf8 -c`. Folders among the libraries are added to the import path.

A process is started as `hand_over.py`, with a socket and the code to run. It hands over its
standard streams, its environment and its folder, passes signals on, and ends when its fork does.
Limits, priorities, process groups and other open files are not handed over.
"""

import atexit
import gc
import importlib
import marshal
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

IS_POSSIBLE = sys.platform == "linux"
HAND_OVER = Path(__file__).with_name("hand_over.py")

STARTED: dict[tuple[str, ...], list[str]] = {}
"""Commands by the libraries that their process has imported."""


def command(*libraries: str) -> list[str]:
    """Return a command to which code and its arguments are added; start its process if needed."""
    if libraries not in STARTED:
        STARTED[libraries] = _start(libraries)
    return STARTED[libraries]


def _start(libraries: tuple[str, ...]) -> list[str]:
    if not IS_POSSIBLE:
        return [sys.executable, "-I", "-B", "-X", "utf8", "-c"]
    folder = tempfile.TemporaryDirectory(prefix="warm-")
    address = str(Path(folder.name, "socket"))
    begin = [sys.executable, "-I", "-B", "-X", "utf8", __file__, address, *libraries]
    listening = subprocess.Popen(begin, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert listening.stdout is not None
    assert listening.stdout.readline() == b"ready\n"

    def end() -> None:
        listening.communicate(timeout=60)
        folder.cleanup()

    atexit.register(end)
    return [sys.executable, "-I", "-B", "-S", str(HAND_OVER), address]


def listen(address: str, libraries: list[str]) -> str:
    """Fork for each request until standard input ends; in a fork, returns the code to run."""
    gc.disable()
    for library in libraries:
        if os.sep in library:
            sys.path.append(library)
            continue
        with suppress(ImportError):
            importlib.import_module(library)
    gc.freeze()
    gc.enable()
    forks: dict[int, socket.socket] = {}
    waking, woken = socket.socketpair()
    woken.setblocking(False)
    signal.set_wakeup_fd(woken.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The signal is blocked until forks have a handler: an ignored signal would be lost.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    with (
        waking,
        woken,
        socket.socket(socket.AF_UNIX) as listener,
        selectors.DefaultSelector() as selector,
    ):
        listener.bind(address)
        listener.listen()
        for readable in (0, waking, listener):
            selector.register(readable, selectors.EVENT_READ)
        os.write(1, b"ready\n")
        while True:
            for key, _ in selector.select():
                if key.fileobj == 0:
                    for child in forks:
                        os.kill(child, signal.SIGKILL)
                    os._exit(0)
                elif key.fileobj is waking:
                    waking.recv(1000)
                    for child, code in ended():
                        connection = forks.pop(child)
                        with suppress(KeyError, OSError):
                            selector.unregister(connection)
                            connection.sendall(f"{code}\n".encode())
                        connection.close()
                elif key.fileobj is listener:
                    connection, _ = listener.accept()
                    size, streams, *_ = socket.recv_fds(connection, 8, 3)
                    with connection.makefile("rb") as asked:
                        request = asked.read(int.from_bytes(size))
                    if not size or len(request) < int.from_bytes(size):
                        # The client was killed before it sent its request.
                        connection.close()
                    elif (child := os.fork()) == 0:
                        for other in (connection, *forks.values()):
                            other.close()
                        arguments, *others = marshal.loads(request)
                        take_over(streams, arguments, *others)
                        return str(arguments[0])
                    else:
                        forks[child] = connection
                        selector.register(connection, selectors.EVENT_READ, child)
                        with suppress(OSError):
                            connection.sendall(f"{child}\n".encode())
                    for stream in streams:
                        os.close(stream)
                elif key.data in forks:
                    # The client has been killed.
                    os.kill(key.data, signal.SIGKILL)
                    selector.unregister(key.fileobj)


def ended() -> list[tuple[int, int]]:
    """Return process ids and exit codes of forks that have ended."""
    found = []
    with suppress(ChildProcessError):
        while (one := os.waitpid(-1, os.WNOHANG))[0]:
            found.append((one[0], os.waitstatus_to_exitcode(one[1])))
    return found


def take_over(
    streams: list[int], arguments: list[str], variables: dict[str, str], folder: str, umask: int
) -> None:
    """Take over the streams, folder and environment of the client."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # A stream object asks about its descriptor, such as whether it is a terminal, when created.
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    os.chdir(folder)
    os.umask(umask)
    os.environ.clear()
    os.environ.update(variables)
    sys.argv = ["-c", *arguments[1:]]
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def run(code: str) -> None:
    """Run code as `python -c` does."""
    main: Any = ModuleType("__main__")
    sys.modules["__main__"] = main
    try:
        exec(compile(code, "<string>", "exec"), main.__dict__)
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        leave(end.code or 0)
    leave(0)


def leave(code: int) -> None:
    """Exit as Python does, but without tearing down modules, which takes longer than a fork."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)
    os._exit(code & 0xFF)


if __name__ == "__main__":
    _, address, *libraries = sys.argv
    run(listen(address, libraries))
