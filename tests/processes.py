"""The command line as a process of its own, for what only a process has: kills, locales, umasks."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
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
    """Begin a command."""
    return subprocess.Popen(
        [*prefix, *begin, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def is_possible(*command: str | Path) -> bool:
    """Whether a command is installed and permitted here: a trial of it ends well."""
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def snapshot(folder: Path) -> dict[str, str]:
    """Mode and SHA-256 (or a link's target) of everything below a folder, by relative path."""
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
    """Names that only an unfinished command leaves behind."""
    return sorted(
        path.name
        for path in folder.rglob("*")
        if path.name.endswith(".tmp") or ".foundry-" in path.name
    )
