"""Adds this server to the configuration of an assistant on this machine, or prints the entry.

File locations and formats are as documented by each assistant in September 2026. A file is backed
up before it is changed, and keeps its other entries.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from ..errors import ConfigurationError
from ..index.tree import read_file
from ..output import write_message, write_output
from ..settings import settings

MAX_BYTES = 16_000_000  # Maximum size of an assistant's file

_PACKAGE = Path(__file__).parents[1]
_CONFIG = "XDG_CONFIG_HOME"
_PATH = "import json, sys; print(json.dumps(sys.path))"


@dataclass(frozen=True, slots=True)
class Assistant:
    """An assistant: its name, its configuration file, and the key of its servers in that file."""

    title: str
    file: Path
    key: str = "mcpServers"
    after: str = "Restart it to use the server."


def add_assistants(commands: Any) -> None:
    """Add --print-config and --install to the command `mcp`; without either, it serves."""
    mcp = commands.choices["mcp"]
    mcp.set_defaults(serve=partial(_give_or_serve, mcp.get_default("serve")))
    add = mcp.add_mutually_exclusive_group().add_argument
    names = "claude, claude-code, cursor, vscode, windsurf or zed"
    add(
        "--print-config",
        metavar="ASSISTANT",
        help=f"print the configuration for an assistant: {names}",
    )
    add(
        "--install",
        action="append",
        metavar="ASSISTANT",
        help="add it to the assistant's file, and back the file up; repeatable",
    )


def _give_or_serve(serve: Callable[[Namespace], None], chosen: Namespace) -> None:
    if chosen.print_config is None and chosen.install is None:
        serve(chosen)
        return
    install = chosen.install is not None
    for name in chosen.install if install else [chosen.print_config]:
        given = give_to(name, install=install)
        write_message(f"{given.said}\n")
        if given.entry:
            write_output(given.entry)


@dataclass(frozen=True, slots=True)
class Given:
    """A message that says what was done, or where to add `entry`, the JSON to print."""

    said: str
    entry: str = ""


def assistants(home: Path, platform: str, environment: dict[str, str]) -> dict[str, Assistant]:
    """Return the assistants by their command-line names."""
    is_mac = platform == "darwin"
    written = [Path(environment.get(name, "")) for name in ("FLATPAK_XDG_CONFIG_HOME", _CONFIG)]
    # The XDG Base Directory Specification ignores relative paths.
    flatpak, config = (each if each.is_absolute() else None for each in written)
    config = config or home / ".config"
    support = home / "Library" / "Application Support" if is_mac else config
    zed = home / ".config" if is_mac else flatpak or config
    here = "It asks once whether the server may run in this folder."
    return {
        "claude": Assistant("Claude Desktop", support / "Claude" / "claude_desktop_config.json"),
        "claude-code": Assistant("Claude Code", Path(".mcp.json"), after=here),
        "cursor": Assistant("Cursor", home / ".cursor" / "mcp.json"),
        "vscode": Assistant("VS Code", Path(".vscode", "mcp.json"), "servers", here),
        "windsurf": Assistant("Windsurf", home / ".codeium" / "windsurf" / "mcp_config.json"),
        "zed": Assistant("Zed", zed / "zed" / "settings.json", "context_servers"),
    }


def give_to(name: str, *, install: bool) -> Given:
    """Return the entry for an assistant's file; with `install`, add it to the file instead.

    Raises ConfigurationError for an unknown assistant, or a file that cannot be changed.
    """
    known = assistants(Path.home(), sys.platform, dict(os.environ))
    if name not in known:
        hint = f"choose one of {', '.join(known)}"
        raise ConfigurationError(f"unknown assistant {name!r}", hint=hint)
    assistant, server = known[name], settings().name
    entry = {assistant.key: {server: _entry(assistant.key)}}
    if not install:
        text = json.dumps(entry, indent=2, ensure_ascii=False)
        return Given(f"add this to {assistant.file}, which {assistant.title} reads:", f"{text}\n")
    try:
        backup = _merge(assistant.file.resolve(), assistant.key, entry[assistant.key])
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"{assistant.file} was left unchanged: {error}",
            hint=f"correct it, or add what mcp --print-config {name} prints",
        ) from None
    kept = f"; backup: {backup}" if backup else ""
    return Given(f"{server} is in {assistant.file}{kept}\n{assistant.title}: {assistant.after}")


def _entry(key: str) -> dict[str, Any]:
    """Return the entry of this server: a command that works in any folder and with any PATH."""
    # -P, since otherwise a folder of the same name in the working directory would be imported.
    arguments, environment = ["-P", "-m", _PACKAGE.name], {}
    if zipfile.is_zipfile(sys.argv[0]):
        # Archives (shiv, pex and similar) unpack to folders of their own choice.
        arguments = [str(Path(sys.argv[0]).resolve())]
    elif folders := _find_unknown():
        environment["PYTHONPATH"] = os.pathsep.join(folders)
    command = {"command": sys.executable, "args": [*arguments, "mcp"]}
    if folder := os.environ.get("INDEX_DIR"):
        environment["INDEX_DIR"] = str(Path(folder).resolve())
    kind = {"type": "stdio"} if key == "servers" else {}
    return {**kind, **command, **({"env": environment} if environment else {})}


def _find_unknown() -> list[str]:
    """Return the import paths of this process that a plain Python would not have."""
    own = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", _PATH], env=own, capture_output=True, text=True, check=True
    )
    known = json.loads(done.stdout.splitlines()[-1])
    # The first entry is the working directory, or the script's folder.
    searched = sys.path if sys.flags.safe_path else sys.path[1:]
    folders = dict.fromkeys([str(_PACKAGE.parent), *filter(os.path.isabs, searched)])
    return [folder for folder in folders if folder not in known and Path(folder).is_dir()]


def _merge(file: Path, key: str, entry: dict[str, Any]) -> Path | None:
    """Add an entry below a key of a JSON file; return the path of the backup, if any.

    Raises ValueError if the file is not as expected.
    """
    held: Any = {}
    backup: Path | None = None
    if file.exists() and (text := read_file(file, MAX_BYTES).decode("utf-8-sig")).strip():
        held = json.loads(text)
        if not isinstance(held, dict) or not isinstance(held.get(key, {}), dict):
            raise ValueError(f"it is not a JSON object, or its {key} is not")
        if held.get(key, {}).items() >= entry.items():
            return None
        names = (file.with_name(f"{file.name}.{number}.bak") for number in count(1))
        backup = next(name for name in names if not name.exists())
    held[key] = {**held.get(key, {}), **entry}
    # A lone surrogate cannot be encoded; this fails before anything is written.
    content = f"{json.dumps(held, indent=2, ensure_ascii=False)}\n".encode()
    if backup:
        shutil.copy2(file, backup)
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, written = tempfile.mkstemp(dir=file.parent, prefix=file.name)
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
    if backup:
        shutil.copymode(backup, written)
    Path(written).replace(file)
    return backup
