"""Formats rendered Python with black, checks it with ruff, and parses all files back.

Both tools run as programs on a scratch folder, with a time limit. Any failure is a RenderError, and
then nothing is written for the user.
"""

import ast
import configparser
import json
import os
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

import yaml

from foundry.errors import RenderError
from foundry.files import write_files

TIME_LIMIT_SECONDS = 60.0
"""Time limit of one run of black or ruff."""


def format_python(
    files: Mapping[str, bytes], rendered: Sequence[str], copied: Sequence[str] = ()
) -> dict[str, bytes]:
    """Format and check the `rendered` files; return their new contents.

    Files that were `copied` are formatted already, so only their imports are sorted. All other
    files are written too, since ruff's order of imports depends on which files exist.
    """
    changed = [*rendered, *copied]
    with tempfile.TemporaryDirectory(prefix="foundry-") as scratch:
        root = Path(scratch).resolve()
        write_files(root, files)
        # Templates and features add imports in any order, so imports are sorted here.
        _run("ruff", ["check", "--quiet", "--no-cache", "--select=I", "--fix", *changed], root)
        _run("black", ["--quiet", *rendered], root)
        _run("ruff", ["check", "--quiet", "--no-cache", "--output-format=concise", *changed], root)
        return {name: (root / name).read_bytes() for name in changed}


def parse_back(name: str, content: bytes) -> object:
    """Parse a file with the parser of its syntax. Raises RenderError."""
    try:
        text = content.decode()
        if name.endswith(".py"):
            return ast.parse(text, filename=name)
        return _PARSERS.get(PurePosixPath(name).suffix, str)(text)
    except (SyntaxError, ValueError, RecursionError, yaml.YAMLError, configparser.Error) as error:
        raise RenderError(f"rendered {name} does not parse: {error}") from None


def _parse_unit(text: str) -> configparser.ConfigParser:
    # A systemd unit may repeat keys.
    unit = configparser.ConfigParser(
        delimiters=("=",), comment_prefixes=("#", ";"), interpolation=None, strict=False
    )
    unit.read_string(text)
    return unit


_PARSERS: dict[str, Callable[[str], object]] = {
    ".toml": tomllib.loads,
    ".json": json.loads,
    ".jsonl": lambda text: [json.loads(line) for line in text.split("\n") if line.strip()],
    ".yaml": lambda text: list(yaml.safe_load_all(text)),
    ".service": _parse_unit,
}


def _run(tool: str, arguments: Sequence[str], folder: Path) -> None:
    # -P: modules of the rendered server must not shadow those of the formatter.
    command = [sys.executable, "-P", "-m", tool, *arguments]
    hint = f"reinstall it: {sys.executable} -m pip install --force-reinstall {tool}"
    try:
        with subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            process_group=0,
        ) as process:
            try:
                said = "".join(process.communicate(timeout=TIME_LIMIT_SECONDS))
            except BaseException:
                # Black's workers are in the same process group, and would outlive it.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                raise
    except subprocess.TimeoutExpired:
        raise RenderError(
            f"{tool} did not end within {TIME_LIMIT_SECONDS:.0f} seconds; nothing was written",
            hint="try again on a less busy machine",
        ) from None
    except OSError as error:
        raise RenderError(
            f"{tool} could not be run: {error}; nothing was written", hint=hint
        ) from None
    if process.returncode < 0:
        raise RenderError(
            f"{tool} was killed by signal {-process.returncode}; nothing was written",
            hint="try again; signal 9 usually means that memory was short",
        )
    if process.returncode:
        said = said.strip().replace(str(folder), "")
        raise RenderError(
            f"{tool} rejected the rendered server (exit {process.returncode}); nothing was"
            f" written:\n{said}",
            hint=hint if "No module named" in said else None,
        )
