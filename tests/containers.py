"""Executes a Dockerfile without Docker, in file trees made with mounts and chroot.

The system is this machine's, read-only, and /usr/local is an empty environment of the Python that
runs the tests. So the base image, its Python version, layers and registries are not tested. Needs
root, and a kernel that allows mounts.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock

BASE = Path(sys.prefix) / "base-image"
"""The contents of /usr/local in base images, kept between runs."""

SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "dev", "proc")
PATH = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"

# Mounts vanish with the process that made them.
ENTER = """
set -e
root=$1 mode=$2 user=$3 folder=$4; shift 4
bind() { if [ -d "$root/$1" ]; then mount --rbind "/$1" "$root/$1"; mount -o "$2" "$root/$1"; fi; }
mount --bind "$root" "$root"
for name in %(system)s; do if [ ! -L "$root/$name" ]; then bind "$name" remount,bind,ro; fi; done
mount --bind "$root/usr_local" "$root/usr/local"
bind %(python)s remount,bind,ro
for volume in $VOLUMES; do mount --bind "$root$volume" "$root$volume"; done
if [ "$mode" = build ]; then mount --bind "$WHEELS" "$root/wheels"
else mount -o remount,bind,ro "$root"; mount -o remount,bind,ro "$root/usr/local"; fi
exec chroot --userspec "$user" --groups= "$root" \
  /bin/sh -c 'unset WHEELS VOLUMES; cd "$0" && exec "$@"' "$folder" "$@"
"""


def parse(dockerfile: str) -> list[tuple[str, str]]:
    """Return keyword and arguments of every instruction, with continued lines joined."""
    lines = (line for line in dockerfile.splitlines() if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    pairs = (line.partition(" ") for line in joined.splitlines() if line.strip())
    return [(keyword, arguments.strip()) for keyword, _, arguments in pairs]


@dataclass
class Stage:
    """A file tree, and how to run commands in it."""

    tree: Path
    variables: dict[str, str] = field(default_factory=lambda: {"PATH": PATH})
    folder: str = "/"
    user: str = "0:0"
    arguments: dict[str, str] = field(default_factory=dict)
    entry_point: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health_check: list[str] = field(default_factory=list)
    volumes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in SYSTEM:
            if Path("/", name).is_symlink():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                (self.tree / name).symlink_to(Path("/", name).readlink())
            elif Path("/", name).is_dir():
                (self.tree / name).mkdir(parents=True)
        for name in ("tmp", "wheels", "usr_local", sys.base_prefix.lstrip("/")):
            (self.tree / name).mkdir(parents=True, exist_ok=True)

    def enter(
        self, command: Sequence[str], *, mode: str, variables: Mapping[str, str], **options: Any
    ) -> "subprocess.Popen[str]":
        """Start a command in the tree; only commands of mode "build" may write to it."""
        script = ENTER % {"system": " ".join(SYSTEM), "python": sys.base_prefix.lstrip("/")}
        where = [str(self.tree), mode, self.user, self.folder]
        return subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", script, "sh", *where, *command],
            env={**self.variables, **variables, "VOLUMES": " ".join(self.volumes)},
            encoding="utf-8",
            **options,
        )

    def build(self, command: Sequence[str], wheels: Path) -> None:
        """Run a step of the build, offline."""
        variables = {
            **self.arguments,
            "WHEELS": str(wheels),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": "/wheels",
            "PIP_ROOT_USER_ACTION": "ignore",
            "UV_OFFLINE": "1",
            "UV_NO_INDEX": "1",
            "UV_FIND_LINKS": "/wheels",
        }
        process = self.enter(
            command,
            mode="build",
            variables=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        output, _ = process.communicate(timeout=300)
        assert process.returncode == 0, f"{command}\n{output}"

    def start(self, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
        """Start the container's command, as `docker run --read-only` does."""
        command = [*self.entry_point, *(arguments or self.command)]
        return self.enter(command, mode="run", variables=variables, stderr=subprocess.PIPE)

    def is_healthy(self, **variables: str) -> bool:
        """Run the health check."""
        process = self.enter(
            self.health_check, mode="run", variables=variables, stderr=subprocess.DEVNULL
        )
        return process.wait(timeout=300) == 0


def build(context: Path, scratch: Path, wheels: Path, **given: str) -> Stage:
    """Execute a folder's Dockerfile with these arguments; returns the last stage."""
    arguments: dict[str, str] = {}
    stages: dict[str, Stage] = {}
    stage = Stage(scratch / "none")
    for keyword, text in parse((context / "Dockerfile").read_text(encoding="utf-8")):
        match keyword:
            case "ARG":
                name, _, default = text.partition("=")
                arguments[name] = given.get(name, default.strip('"'))
                # An ARG before the first FROM applies only to image names.
                if stages:
                    stage.arguments[name] = arguments[name]
            case "FROM":
                image, _, name = text.partition(" AS ")
                image = re.sub(r"\$\{(\w+)\}", lambda found: arguments[found[1]], image)
                assert image.startswith("python:"), image
                stage = stages[name] = Stage(scratch / (name or "last"))
                _install_python(stage, wheels)
            case "ENV":
                for word in shlex.split(text):
                    name, _, value = word.partition("=")
                    stage.variables[name] = value.replace("$PATH", stage.variables["PATH"])
            case "RUN":
                stage.build(["/bin/sh", "-c", text], wheels)
            case "WORKDIR":
                stage.folder = text
                (stage.tree / text.lstrip("/")).mkdir(parents=True, exist_ok=True)
            case "COPY":
                _copy(text.split(), stage, stages, context)
            case "USER":
                stage.user = text
            case "ENTRYPOINT":
                stage.entry_point = json.loads(text)
            case "CMD":
                stage.command = json.loads(text)
            case "HEALTHCHECK":
                stage.health_check = json.loads(text.partition("CMD ")[2])
            case "EXPOSE":
                assert text.isdigit()
            case _:
                raise AssertionError(f"{keyword} is not known here")
    return stage


def _install_python(stage: Stage, wheels: Path) -> None:
    """Make the environment of a base image, or copy the previous one."""
    place = stage.tree / "usr_local"
    with FileLock(BASE.with_suffix(".lock")):
        if not (BASE / "complete").exists():
            shutil.rmtree(BASE, ignore_errors=True)
            python = str(Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}"))
            stage.build([python, "-m", "venv", "/usr/local"], wheels)
            shutil.copytree(place, BASE / "usr_local", symlinks=True)
            (BASE / "complete").touch()
            return
    shutil.copytree(BASE / "usr_local", place, symlinks=True, dirs_exist_ok=True)


def download_uv(wheels: Path) -> None:
    """Put the wheel of uv, which builds images, next to the others."""
    if not list(wheels.glob("uv-*.whl")):
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download"]
        subprocess.run([*pip, "--no-deps", "--dest", wheels, "uv>=0.13,<0.14"], check=True)


def _copy(words: list[str], stage: Stage, stages: Mapping[str, Stage], context: Path) -> None:
    target = stage.tree / str(Path(stage.folder, words[-1])).lstrip("/")
    if words[0].startswith("--from="):
        source = stages[words[0].removeprefix("--from=")].tree / words[1].lstrip("/")
        shutil.copytree(source, target, symlinks=True)
        return
    patterns = (context / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for word in words[:-1]:
        source = context / word
        files = [source] if source.is_file() else [p for p in source.rglob("*") if p.is_file()]
        sent = [p for p in files if not _is_ignored(p.relative_to(context), patterns)]
        assert sent, f"{word} is not in the build context"
        for path in sent:
            place = target / (path.name if path == source else path.relative_to(source))
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, place)


def _is_ignored(path: Path, patterns: Sequence[str]) -> bool:
    # The last pattern that matches a path, or a folder above it, decides.
    ignored = False
    for pattern in patterns:
        expression = re.escape(pattern.removeprefix("!"))
        expression = expression.replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
        if any(re.fullmatch(expression, str(part)) for part in [path, *path.parents[:-1]]):
            ignored = not pattern.startswith("!")
    return ignored
