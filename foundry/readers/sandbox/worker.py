"""Processes documents that a parent process sends.

Run as a script with a JSON object as argument: `path` (the parent's import path), `memory` (bytes
of address space), `answer` (maximum bytes of an answer), `module` and `options` (a module whose
`open_task(options)` returns a function that answers requests, and one that checks answers, or
None). A request is a line with a list of `{"bytes": int, "cpu": seconds, "document": {...}}` with
the source's description of each document, followed by their contents. The answer to each is a line
`{"bytes": int, "wear": int}`, followed by that many bytes. `wear` counts towards the number of
files after which the parent replaces the worker.

A worker cannot open files other than Python's own, write files, use a network, or start programs.
A Python audit hook enforces all of this. Where the system permits it, the kernel also prevents
writing and network access. If answers are checked, the sandboxed worker is a fork. The process that
was started stays outside the sandbox and checks each answer before the parent gets it. If one of
them ends, so does the other.
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
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO, Any

Pipes = tuple[IO[bytes], IO[bytes]]
Check = Callable[[dict[str, Any], bytes, bytes], bytes]

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_PR_SET_PDEATHSIG = 1
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
    pipes = _take_pipes()
    # docutils looks up the media types of images, which must not depend on the machine.
    mimetypes.knownfiles.clear()
    answer, check = importlib.import_module(options["module"]).open_task(options["options"])
    # Loaded modules are never freed, and searching them for reference cycles takes a twentieth of
    # the time.
    gc.freeze()
    gc.set_threshold(50_000)
    checking = os.getpid()
    if check is not None:
        pipes = _fork(pipes, check, options["answer"])

    _leave_network()
    if check is not None:
        _end_with(checking)
    _limit(options["memory"])
    _refuse()
    requests, answers = pipes
    for request, content in _read(requests):
        _allow_seconds(request["cpu"])
        _write(answers, *answer(request["document"], content))
    # The interpreter's clean-up would take tens of milliseconds.
    os._exit(0)


def _read(requests: IO[bytes]) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield requests with their contents; a line's requests are read before any is answered."""
    while line := requests.readline():
        yield from [(each, requests.read(each["bytes"])) for each in json.loads(line)]


def _write(answers: IO[bytes], answer: bytes, wear: int) -> None:
    answers.write(b'{"bytes": %d, "wear": %d}\n' % (len(answer), wear))
    answers.write(answer)
    answers.flush()


def _fork(pipes: Pipes, check: Check, most: int) -> Pipes:
    """Fork, and return pipes to the parent in the child only.

    The parent checks the child's answers, and ends with the child's exit code or signal.
    """
    (requests, asking), (answering, answers) = os.pipe(), os.pipe()
    if not (fork := os.fork()):
        for descriptor in (asking, answering, *(pipe.fileno() for pipe in pipes)):
            os.close(descriptor)
        return os.fdopen(requests, "rb"), os.fdopen(answers, "wb")
    os.close(requests)
    os.close(answers)
    with suppress(OSError, ValueError, TypeError, KeyError):
        _check_answers(pipes, (os.fdopen(answering, "rb"), os.fdopen(asking, "wb")), check, most)
    os.kill(fork, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1])
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), -code)
    os._exit(code)


def _check_answers(pipes: Pipes, fork: Pipes, check: Check, most: int) -> None:
    """Pass on requests, and answers after checking them. An invalid answer raises ValueError or
    another error.
    """
    (requests, answers), (answering, asking) = pipes, fork
    for request, content in _read(requests):
        asking.write(json.dumps([request]).encode() + b"\n" + content)
        asking.flush()
        header = json.loads(answering.readline(100))
        size, wear = int(header["bytes"]), int(header["wear"])
        if not 0 <= size <= most:
            # An answer of this size is rejected without being read.
            answers.write(b'{"bytes": %d, "wear": 0}\n' % (most + 1))
            answers.flush()
            return
        answer = answering.read(size)
        if len(answer) < size:
            raise ValueError("cut off")
        _write(answers, check(request["document"], content, answer), wear)


def _end_with(parent: int) -> None:
    """Have this process killed when its parent ends, if the system can do that."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _take_pipes() -> Pipes:
    """Return the two pipes to the parent.

    The standard streams are redirected to /dev/null, so that libraries cannot write into the pipes.
    """
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
        # A system may not support or allow some of these limits.
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
    """Refuse to start programs, use the network, write files, or read files except Python's."""
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
