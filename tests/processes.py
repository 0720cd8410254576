"""The command line as a separate process, for tests that need one: kills, locales, umasks."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

SECONDS = 120
"""Longer than any command takes, however busy the machine."""

FOUNDRY = [sys.executable, "-m", "foundry"]


def foundry(
    *arguments: str | Path,
    umask: int = -1,
    cwd: Path | None = None,
    variables: Mapping[str, str] | None = None,
    prefix: Sequence[str | Path] = (),
    begin: Sequence[str] = FOUNDRY,
) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end, whatever its exit code."""
    return subprocess.run(
        [*prefix, *begin, *arguments],
        capture_output=True,
        encoding="utf-8",
        errors="backslashreplace",
        timeout=SECONDS,
        umask=umask,
        cwd=cwd,
        env={**os.environ, **(variables or {})},
        check=False,
    )


def start(
    *arguments: str | Path, prefix: Sequence[str | Path] = (), begin: Sequence[str] = FOUNDRY
) -> "subprocess.Popen[str]":
    """Start a command."""
    return subprocess.Popen(
        [*prefix, *begin, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


class Running:
    """A command that runs until it is stopped; `said` is its output so far."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.said: list[str] = []

    def wait_for(self, pattern: str) -> "re.Match[str]":
        """Read until a line matches this pattern."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)
            if found := re.search(pattern, line):
                return found
        raise AssertionError(f"ended without {pattern!r}:\n{''.join(self.said)}")


@contextmanager
def running(
    *arguments: str | Path,
    variables: Mapping[str, str] | None = None,
    begin: Sequence[str] = FOUNDRY,
) -> Iterator["subprocess.Popen[str]"]:
    """Run a command that is killed at the end; its output contains both streams."""
    process = subprocess.Popen(
        [*begin, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env={**os.environ, **(variables or {})},
    )
    limit = threading.Timer(SECONDS, process.kill)
    limit.start()
    try:
        yield process
    finally:
        limit.cancel()
        process.kill()
        process.wait(SECONDS)
        assert process.stdout is not None
        process.stdout.close()


def is_possible(*command: str | Path) -> bool:
    """Return whether a command is installed and permitted here, by running it."""
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def snapshot(folder: Path) -> dict[str, str]:
    """Return mode and SHA-256 (or link target) of everything below a folder, by relative path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        if path.is_symlink():
            what = str(path.readlink())
        elif path.is_file():
            what = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            what = "folder"
        found[path.relative_to(folder).as_posix()] = f"{mode:o} {what}"
    return found


def leftovers(folder: Path) -> list[str]:
    """Return names that only an interrupted command leaves behind."""
    return sorted(
        path.name
        for path in folder.rglob("*")
        if path.name.endswith(".tmp") or ".foundry-" in path.name
    )
