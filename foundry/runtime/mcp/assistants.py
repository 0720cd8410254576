"""Puts this server into the configuration of an assistant on this machine, or prints how.

The files and their shape are those of September 2026, from each assistant's documentation. The rest
of a file that is written stays, and so does a copy of the file as it was.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from ..errors import ConfigurationError
from ..retrieval.settings import settings

_PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Assistant:
    """An assistant: its name, the file that it reads, and the key that holds its servers."""

    title: str
    file: Path
    key: str = "mcpServers"
    after: str = "Restart it to have the server."


def add_assistants(commands: Any) -> None:
    """Add the options to the command `mcp`."""
    add = commands.choices["mcp"].add_argument
    names = "claude, claude-code, cursor, vscode, windsurf or zed"
    add("--print-config", action=_Give, metavar="ASSISTANT", help=f"print what it needs: {names}")
    add("--install", action=_Give, metavar="ASSISTANT", help="put that into its file, keep a copy")


class _Give(argparse.Action):
    def __call__(self, parser: Any, _namespace: Any, value: Any, option: Any = None) -> None:
        parser.exit(message=give_to(value, install=option == "--install") + "\n")


def assistants(home: Path, platform: str, environment: dict[str, str]) -> dict[str, Assistant]:
    """Return the assistants by the names that they have on the command line."""
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    support = home / "Library" / "Application Support" if platform == "darwin" else config
    here = "It asks once whether the server may run in this folder."
    return {
        "claude": Assistant("Claude Desktop", support / "Claude" / "claude_desktop_config.json"),
        "claude-code": Assistant("Claude Code", Path(".mcp.json"), after=here),
        "cursor": Assistant("Cursor", home / ".cursor" / "mcp.json"),
        "vscode": Assistant("VS Code", Path(".vscode", "mcp.json"), "servers", here),
        "windsurf": Assistant("Windsurf", home / ".codeium" / "windsurf" / "mcp_config.json"),
        "zed": Assistant("Zed", home / ".config" / "zed" / "settings.json", "context_servers"),
    }


def give_to(name: str, *, install: bool) -> str:
    """Return the entry for the file of an assistant, or add it there and return what was done.

    Raises ConfigurationError for an unknown assistant and for a file that cannot be changed.
    """
    known = assistants(Path.home(), sys.platform, dict(os.environ))
    if name not in known:
        hint = f"known are {', '.join(known)}"
        raise ConfigurationError(f"no assistant is called {name!r}", hint=hint)
    assistant, server = known[name], settings().name
    entry = {assistant.key: {server: _entry(assistant.key)}}
    if not install:
        text = json.dumps(entry, indent=2, ensure_ascii=False)
        return f"{assistant.title} reads {assistant.file}; it needs this there:\n\n{text}"
    try:
        backup = _merge(assistant.file.resolve(), assistant.key, entry[assistant.key])
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"{assistant.file} was left as it is: {error}",
            hint=f"correct it, or put in yourself what mcp --print-config {name} prints",
        ) from None
    kept = f"; as it was: {backup}" if backup else ""
    return f"{server} is in {assistant.file}{kept}\n{assistant.title}: {assistant.after}"


def _entry(key: str) -> dict[str, Any]:
    """Return how this server is started, whatever folder and PATH an assistant has."""
    # -P, or a folder of the same name where the assistant starts it would come first.
    command = {"command": sys.executable, "args": ["-P", "-m", _PACKAGE.name, "mcp"]}
    environment = {}
    if _PACKAGE.parent.name not in {"site-packages", "dist-packages"}:
        environment["PYTHONPATH"] = str(_PACKAGE.parent)
    if folder := os.environ.get("INDEX_DIR"):
        environment["INDEX_DIR"] = str(Path(folder).resolve())
    kind = {"type": "stdio"} if key == "servers" else {}
    return {**kind, **command, **({"env": environment} if environment else {})}


def _merge(file: Path, key: str, entry: dict[str, Any]) -> Path | None:
    """Put an entry under a key of a JSON file; return the copy of the file, if there was one.

    Raises ValueError if it is not such a file.
    """
    held: Any = {}
    backup: Path | None = None
    if file.exists() and (text := file.read_text("utf-8-sig")).strip():
        held = json.loads(text)
        if not isinstance(held, dict) or not isinstance(held.get(key, {}), dict):
            raise ValueError(f"it is no object, or its {key} is none")
        if held.get(key, {}).items() >= entry.items():
            return None
        names = (file.with_name(f"{file.name}.{number}.bak") for number in count(1))
        backup = next(name for name in names if not name.exists())
        shutil.copy2(file, backup)
    held[key] = {**held.get(key, {}), **entry}
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, written = tempfile.mkstemp(dir=file.parent, prefix=file.name)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(json.dumps(held, indent=2, ensure_ascii=False) + "\n")
    if backup:
        shutil.copymode(backup, written)
    Path(written).replace(file)
    return backup
