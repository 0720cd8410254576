"""Faults put into system calls by strace, one call after the other until none is left to hit.

`-P` knows paths by name at the start only, so calls are chosen by kind: whole processes are
traced, and the calls that only start the interpreter are passed over by counting from the first
call after a marker file has been opened.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

STRACE = shutil.which("strace")

INJECTOR = r"""
import builtins, errno, io, os, shutil, signal, sys
kind, number, place = sys.argv[1], int(sys.argv[2]), os.path.realpath(sys.argv[3])
count = 0

def hit(what):
    global count
    count += 1
    if count == number:
        os.write(2, f"INJECTED {kind} {what}\n".encode())
        if kind == "SIGKILL":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(getattr(errno, kind), os.strerror(getattr(errno, kind)))

def concerns(*paths):
    return any(
        isinstance(path, (str, bytes, os.PathLike))
        and os.path.realpath(os.fsdecode(path)).startswith(place)
        and not os.path.basename(os.fsdecode(path)).startswith("lock")
        for path in paths
    )

def wrap(module, name):
    original = getattr(module, name)
    def wrapped(*arguments, **options):
        if concerns(*arguments):
            hit(f"{name} {arguments[0]}")
        return original(*arguments, **options)
    setattr(module, name, wrapped)

for name in ("rename", "replace", "mkdir", "rmdir", "unlink", "chmod"):
    wrap(os, name)
original_fsync = os.fsync
def fsync(descriptor):
    if concerns(os.readlink(f"/proc/self/fd/{descriptor}")):
        hit("fsync")
    return original_fsync(descriptor)
os.fsync = fsync

original_open = io.open
class Watched:
    def __init__(self, file): self._file = file
    def __getattr__(self, name): return getattr(self._file, name)
    def __enter__(self): self._file.__enter__(); return self
    def __exit__(self, *details): return self._file.__exit__(*details)
    def __iter__(self): return iter(self._file)
    def write(self, content):
        hit("write")
        return self._file.write(content)
def watched_open(file, mode="r", *arguments, **options):
    if set(mode) & set("wxa+") and concerns(file):
        hit(f"open {file}")
        return Watched(original_open(file, mode, *arguments, **options))
    return original_open(file, mode, *arguments, **options)
io.open = builtins.open = watched_open
original_copy = shutil.copyfile
shutil._USE_CP_SENDFILE = False

sys.argv = sys.argv[3:]
del sys.argv[0]
import runpy
runpy.run_module("foundry" if sys.argv[0] == "foundry" else sys.argv[0], run_name="__main__")
"""


def inject(
    fault: str, number: int, place: Path, command: Sequence[str | Path]
) -> "subprocess.CompletedProcess[str]":
    """Run `foundry COMMAND`, failing its `number`-th call that changes something below `place`.

    `fault` is SIGKILL or the name of an errno.
    """
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", INJECTOR, fault, str(number), place, *command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=dict(os.environ),
    )


def faults(
    fault: str, place: Path, command: Sequence[str | Path], *, step: int = 1
) -> Iterator[tuple[int, "subprocess.CompletedProcess[str]"]]:
    """Fail one call after the other, until a run comes to its end without a fault."""
    number = 1
    while True:
        done = inject(fault, number, place, command)
        if "INJECTED" not in done.stderr:
            assert done.returncode == 0, done.stderr
            return
        yield number, done
        number += step
