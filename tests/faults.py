"""Faults at the N-th change to a folder: a full or broken disk, or a killed process.

A forked child runs the action, and wraps all functions of `os` and `io` through which Python
changes files. N increases by one until a run ends without a fault, so that every change is tested.
"""

import builtins
import errno
import io
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

FAULTS = ("SIGKILL", "ENOSPC", "EIO")
EVERY_FAULT = bool(os.environ.get("EVERY_FAULT"))
"""Whether slow tests try a fault at every change, not only at some; this takes hours."""

_MARK = "INJECTED"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run with a fault ended; `killed` runs have no exit code."""

    number: int
    injected: str
    exit_code: int | None
    output: str


def each_fault(
    fault: str, place: Path, action: Callable[[], tuple[int, str]], *, first: int = 1, step: int = 1
) -> Iterator[Outcome]:
    """Run `action` repeatedly, failing at a later change below `place` each time.

    `action` returns an exit code and its output. The last run, without a fault, must succeed, and
    is not yielded.
    """
    number = first
    while True:
        outcome = run_with_fault(fault, number, place, action)
        if not outcome.injected:
            assert outcome.exit_code == 0, outcome
            return
        yield outcome
        number += step


def run_with_fault(
    fault: str, number: int, place: Path, action: Callable[[], tuple[int, str]]
) -> Outcome:
    """Run `action` in a forked child, failing its `number`-th change below `place`."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _work(fault, number, place, action, writer)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8", errors="replace") as stream:
        said = stream.read()
    _, status = os.waitpid(child, 0)
    injected, _, output = said.rpartition(f"{_MARK} ") if _MARK in said else ("", "", said)
    if _MARK in said:
        injected, _, output = output.partition("\n")
    code = os.waitstatus_to_exitcode(status)
    assert code >= 0 or (code == -signal.SIGKILL and fault == "SIGKILL"), said
    return Outcome(number, injected, code if code >= 0 else None, output)


def _work(
    fault: str, number: int, place: Path, action: Callable[[], tuple[int, str]], report: int
) -> NoReturn:
    code = 99
    try:
        _Injection(fault, number, place, report).install()
        code, output = action()
        os.write(report, output.encode("utf-8", "replace"))
    except BaseException as error:
        os.write(report, f"escaped: {error!r}".encode("utf-8", "replace"))
    finally:
        os._exit(code)


class _Injection:
    def __init__(self, fault: str, number: int, place: Path, report: int) -> None:
        self._fault, self._number, self._report = fault, number, report
        self._place = os.path.realpath(place)
        self._count = 0

    def install(self) -> None:
        for name in ("rename", "replace", "link", "mkdir", "rmdir", "unlink", "chmod"):
            self._wrap(name)
        # Whole trees are removed through descriptors, whose paths the wrappers would not see.
        shutil._use_fd_functions = False
        # Copies then use write, like everything else.
        shutil._USE_CP_SENDFILE = False
        fsync, opened = os.fsync, io.open

        def fsync_or_fail(descriptor: int) -> None:
            if self._concerns(Path(f"/proc/self/fd/{descriptor}").readlink()):
                self._hit("fsync")
            fsync(descriptor)

        def open_or_fail(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
            stream = opened(file, mode, *arguments, **options)
            if set(mode) & set("wxa+") and self._concerns(file):
                self._hit(f"open {file}")
                return _Stream(stream, self._hit)
            return stream

        os.fsync = fsync_or_fail
        io.open = builtins.open = open_or_fail

    def _wrap(self, name: str) -> None:
        original = getattr(os, name)

        def call_or_fail(*arguments: Any, **options: Any) -> Any:
            if self._concerns(*arguments):
                self._hit(f"{name} {arguments[0]}")
            return original(*arguments, **options)

        setattr(os, name, call_or_fail)

    def _concerns(self, *paths: object) -> bool:
        names = [os.fspath(path) for path in paths if isinstance(path, str | os.PathLike)]
        return any(
            os.path.realpath(name).startswith(self._place)
            and not Path(name).name.startswith(("lock", "server.lock"))
            for name in names
        )

    def _hit(self, what: str) -> None:
        self._count += 1
        if self._count != self._number:
            return
        os.write(self._report, f"{_MARK} {what}\n".encode())
        if self._fault == "SIGKILL":
            os.kill(os.getpid(), signal.SIGKILL)
        code = getattr(errno, self._fault)
        raise OSError(code, os.strerror(code))


class _Stream:
    """A file whose writes may fail after half of the data."""

    def __init__(self, stream: Any, hit: Callable[[str], None]) -> None:
        self._stream, self._hit = stream, hit

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __enter__(self) -> "_Stream":
        return self

    def __exit__(self, *details: object) -> None:
        self._stream.close()

    def write(self, content: Any) -> int:
        half = len(content) // 2
        self._stream.write(content[:half])
        self._stream.flush()
        self._hit("write")
        return half + int(self._stream.write(content[half:]))
