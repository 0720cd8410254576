"""Measures servers for assistants: `python benchmarks/assistants.py --export NAME=FOLDER`.

An assistant starts a server over standard input and output for each session. This measures, from
the start of the process, the time until the responses to `initialize`, to `tools/list` and to a
first search, and the memory after that. An export is a folder written by `foundry export`, for
example of one project by several revisions. `--peer` names other servers by the command that starts
them, such as `"filesystem=npx -y @modelcontextprotocol/server-filesystem DOCS"`; they are not
searched. All servers are started in turn. The smallest value of each figure is printed, and its
ratio to the first row.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import machine, row
from processes import cpu_seconds, memory_of

ROUNDS = 5
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}
NAMES = ("initialize ms", "tools/list ms", "search ms", "processor ms", "resident MB", "private MB")


@dataclass(frozen=True, slots=True)
class Server:
    """A server: the command that starts it, and the folder to start it in."""

    command: list[str]
    folder: Path | None = None
    is_searched: bool = True


def server_of(export: Path) -> Server:
    """Return the server of an exported folder."""
    (package,) = (each.parent.name for each in export.glob("*/__main__.py"))
    return Server([sys.executable, "-m", package, "mcp"], export)


def measure(server: Server, query: str) -> dict[str, float]:
    """Start a server once; returns times and memory by name."""
    found: dict[str, float] = {}
    begun = time.perf_counter()
    with subprocess.Popen(
        server.command,
        cwd=server.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def send(method: str, params: Mapping[str, Any], **more: object) -> None:
            assert process.stdin is not None
            message = {"jsonrpc": "2.0", "method": method, "params": params, **more}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()

        def ask(method: str, params: Mapping[str, Any]) -> Any:
            assert process.stdout is not None
            send(method, params, id=len(found))
            answer = json.loads(process.stdout.readline())
            assert "error" not in answer, answer
            found[method] = (time.perf_counter() - begun) * 1000
            return answer["result"]

        ask("initialize", INITIALIZE)
        send("notifications/initialized", {})
        assert ask("tools/list", {})["tools"]
        if server.is_searched:
            called = {"name": "search", "arguments": {"query": query}}
            assert not ask("tools/call", called)["isError"]
        found["processor"] = cpu_seconds(process.pid) * 1000
        found["resident"] = _resident(process.pid)
        found["private"] = memory_of(process.pid).private
        process.stdin.close()
        process.terminate()
    return found


def _resident(pid: int) -> float:
    (pages,) = Path(f"/proc/{pid}/statm").read_text().split()[1:2]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    named: dict[str, Any] = {"action": "append", "default": [], "metavar": "NAME=VALUE"}
    parser.add_argument("--export", **named, help="an exported folder; repeatable")
    parser.add_argument("--peer", **named, help="the command of another server; repeatable")
    parser.add_argument("--query", default="How is it configured?", help="(%(default)s)")
    chosen = parser.parse_args()
    servers = {}
    for name, _, folder in (each.partition("=") for each in chosen.export):
        servers[name] = server_of(Path(folder))
    for name, _, command in (each.partition("=") for each in chosen.peer):
        servers[name] = Server(shlex.split(command), is_searched=False)
    if not servers:
        parser.error("name an export")
    print(machine(), end="\n\n")
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in servers}
    for _ in range(ROUNDS):
        for name, server in servers.items():
            runs[name].append(measure(server, chosen.query))
    row("", *NAMES)
    row(*["---"] * (1 + len(NAMES)))
    keys = ("initialize", "tools/list", "tools/call", "processor", "resident", "private")
    first: dict[str, float] = {}
    for name, measured in runs.items():
        least = {key: min(one[key] for one in measured) for key in keys if key in measured[0]}
        first = first or least
        row(name, *(_cell(least.get(key), first[key]) for key in keys))
    return 0


def _cell(value: float | None, first: float) -> str:
    return "" if value is None else f"{value:.0f} ({value / first:.2f})"


if __name__ == "__main__":
    sys.exit(main())
