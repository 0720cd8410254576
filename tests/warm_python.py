"""Interpreters that have imported their libraries before they are asked to run anything.

Importing what a server needs takes longer than all that most tests ask of it. So one process
imports it, and forks another for each that is wanted: `command(libraries)` begins what behaves as
`python -I -B -X utf8 -c` does. Folders among the libraries are where others are looked for too.

A process that is wanted is started as this file, with a socket and what it is to run. It hands its
standard streams, its environment and its folder over, passes signals on, and ends as its fork does.
Limits, priorities and groups of processes are not handed over, nor are other open files.
"""

import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

HANDED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
IS_POSSIBLE = sys.platform == "linux"


STARTED: dict[tuple[str, ...], list[str]] = {}
"""The commands of processes that have imported libraries; whose own started them may be told."""


def command(*libraries: str) -> list[str]:
    """Start the process that imports; returns what precedes code and its arguments."""
    if libraries not in STARTED:
        STARTED[libraries] = _start(libraries)
    return STARTED[libraries]


def _start(libraries: tuple[str, ...]) -> list[str]:
    if not IS_POSSIBLE:
        return [sys.executable, "-I", "-B", "-X", "utf8", "-c"]
    import atexit
    import subprocess
    import tempfile

    folder = tempfile.TemporaryDirectory(prefix="warm-")
    address = str(Path(folder.name, "socket"))
    begin = [sys.executable, "-I", "-B", "-X", "utf8", __file__, "--listen", address, *libraries]
    listening = subprocess.Popen(begin, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert listening.stdout is not None
    assert listening.stdout.readline() == b"ready\n"

    def end() -> None:
        listening.communicate()
        folder.cleanup()

    atexit.register(end)
    return [sys.executable, "-I", "-B", "-S", __file__, address]


def hand_over(address: str, arguments: list[str]) -> int:
    """Have a fork run what this process was asked to; returns its exit code."""
    signal.pthread_sigmask(signal.SIG_BLOCK, HANDED_ON)
    with socket.socket(socket.AF_UNIX) as connection, connection.makefile("r") as answers:
        connection.connect(address)
        umask = os.umask(0)
        request = [arguments, dict(os.environ), str(Path.cwd()), umask]
        socket.send_fds(connection, [b"\n"], [0, 1, 2])
        connection.sendall(json.dumps(request).encode() + b"\n")
        child = int(answers.readline())
        for number in HANDED_ON:
            signal.signal(number, lambda number, _: os.kill(child, number))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDED_ON)
        code = int(answers.readline())
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def listen(address: str, libraries: list[str]) -> str:
    """Fork for each request until standard input ends; returns in the fork what it is to run."""
    for library in libraries:
        if os.sep in library:
            sys.path.append(library)
            continue
        with suppress(ImportError):
            importlib.import_module(library)
    gc.freeze()
    forks: dict[int, socket.socket] = {}
    waking, woken = socket.socketpair()
    woken.setblocking(False)
    signal.set_wakeup_fd(woken.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
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
                    _, streams, *_ = socket.recv_fds(connection, 1, 3)
                    with connection.makefile("r") as asked:
                        request = json.loads(asked.readline() or "null")
                    if request is None:
                        # Who asked for it was killed before it said what it wants.
                        connection.close()
                    elif (child := os.fork()) == 0:
                        for other in (connection, *forks.values()):
                            other.close()
                        take_over(streams, *request)
                        return str(request[0][0])
                    else:
                        forks[child] = connection
                        selector.register(connection, selectors.EVENT_READ, child)
                        with suppress(OSError):
                            connection.sendall(f"{child}\n".encode())
                    for stream in streams:
                        os.close(stream)
                elif key.data in forks:
                    # Who asked for it has been killed.
                    os.kill(key.data, signal.SIGKILL)
                    selector.unregister(key.fileobj)


def ended() -> list[tuple[int, int]]:
    """Process ids and exit codes of the forks that have ended."""
    found = []
    with suppress(ChildProcessError):
        while (one := os.waitpid(-1, os.WNOHANG))[0]:
            found.append((one[0], os.waitstatus_to_exitcode(one[1])))
    return found


def take_over(
    streams: list[int], arguments: list[str], variables: dict[str, str], folder: str, umask: int
) -> None:
    """Become the process that asked."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # They look at what they stand for when they are made.
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    os.chdir(folder)
    os.umask(umask)
    os.environ.clear()
    os.environ.update(variables)
    sys.argv = ["-c", *arguments[1:]]


def run(code: str) -> None:
    """Run code as `python -c` does."""
    main: Any = ModuleType("__main__")
    sys.modules["__main__"] = main
    exec(compile(code, "<string>", "exec"), main.__dict__)


if __name__ == "__main__":
    if sys.argv[1] != "--listen":
        os._exit(hand_over(sys.argv[1], sys.argv[2:]))
    _, _, address, *libraries = sys.argv
    run(listen(address, libraries))
