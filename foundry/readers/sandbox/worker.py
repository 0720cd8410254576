"""Processes documents that a parent process sends, one at a time.

Run as a script with a JSON object as argument: `path` (the parent's import path), `memory` (bytes
of address space), `module` and `options` (a module whose `open_task(options)` returns a function
that answers requests). A request is a line `{"bytes": int, "cpu": seconds, "document": {...}}` with
the source's description of the document, followed by its content; an answer is a line `{"bytes":
int, "wear": int}`, followed by that many bytes. `wear` counts towards the number of files after
which the parent replaces the worker.

A worker cannot write files, use a network, or start programs. The kernel enforces this where it
supports that; a Python audit hook enforces it everywhere.
"""

import ctypes
import gc
import importlib
import json
import mimetypes
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import IO, Any

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_REFUSED = (
    *("socket.", "subprocess.", "shutil.", "ftplib.", "smtplib.", "urllib.", "tempfile."),
    *("os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.remove", "os.rename"),
    *("os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown"),
    *("os.kill", "pty.", "signal.pthread_kill"),
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def main() -> None:
    """Answer requests until standard input ends."""
    options = json.loads(sys.argv[1])
    sys.path[:] = options["path"]
    sys.dont_write_bytecode = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = _take_pipes()
    _leave_network()
    _limit(options["memory"])
    # docutils looks up the types of images, which must not depend on the machine.
    mimetypes.knownfiles.clear()
    answer = importlib.import_module(options["module"]).open_task(options["options"])
    # Loaded modules stay; searching them for cycles repeatedly takes a twentieth of the time.
    gc.freeze()
    gc.set_threshold(50_000)

    _refuse()
    while line := requests.readline():
        request = json.loads(line)
        content = requests.read(request["bytes"])
        _allow_seconds(request["cpu"])
        answered, wear = answer(request["document"], content)
        answers.write(b'{"bytes": %d, "wear": %d}\n' % (len(answered), wear))
        answers.write(answered)
        answers.flush()


def _take_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Return the two pipes to the parent; output of libraries must not end up in them."""
    pipes = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    return pipes


def _leave_network() -> None:
    """Move into a new network namespace, if the system permits it."""
    unshare = getattr(ctypes.CDLL(None, use_errno=True), "unshare", None)
    if unshare is not None and unshare(_CLONE_NEWNET) != 0:
        unshare(_CLONE_NEWUSER | _CLONE_NEWNET)


def _limit(memory: int) -> None:
    limits = ((resource.RLIMIT_AS, memory), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0))
    for kind, limit in limits:
        # Not every system supports or allows all of them.
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (limit, limit))


def _allow_seconds(seconds: int) -> None:
    """Limit the processor time of this process, after which a signal ends it."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    until = int(usage.ru_utime + usage.ru_stime) + seconds + 1
    if most == resource.RLIM_INFINITY or until < most:
        resource.setrlimit(resource.RLIMIT_CPU, (until, most))


def _refuse() -> None:
    """Allow opening only parts of Python and its packages, read-only."""
    parts = {sys.prefix, sys.base_prefix, "/usr/share/zoneinfo", *filter(None, sys.path)}
    readable = (*(os.path.realpath(part).rstrip("/") + "/" for part in parts), os.devnull)

    def judge(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and not isinstance(arguments[0], int):
            path = os.path.realpath(os.fspath(arguments[0]))
            name = path if isinstance(path, str) else os.fsdecode(path)
            if (arguments[2] or 0) & _WRITING or not name.startswith(readable):
                raise PermissionError("a reader may not open files")
        elif event.startswith(_REFUSED):
            raise PermissionError(f"a reader may not use {event}")

    sys.addaudithook(judge)


if __name__ == "__main__":
    main()
