"""Runs wrk, which sends requests to a server over loopback (`apt-get install wrk`)."""

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SCRIPT = """
local queries = {{{queries}}}
local place = 0
request = function()
  place = place % #queries + 1
  return wrk.format("POST", "/search", {{["Content-Type"] = "application/json"}}, queries[place])
end
"""


@dataclass(frozen=True, slots=True)
class Load:
    """Figures of wrk: answers per second, those refused or failed, and milliseconds."""

    rate: float
    refused: float
    errors: int
    median: float
    p99: float


def write_script(path: Path, queries: Sequence[str]) -> None:
    """Write a script that makes wrk search for these queries in turn."""
    bodies = ", ".join(f"[[{json.dumps({'query': query})}]]" for query in queries)
    path.write_text(SCRIPT.format(queries=bodies), encoding="utf-8")


def version() -> str:
    """Return the name and version of wrk."""
    said = subprocess.run(["wrk", "-v"], capture_output=True, text=True, check=False).stdout
    return said.partition(" [")[0]


def load(url: str, connections: int, seconds: float, script: Path | None = None) -> Load:
    """Send requests for `seconds` over `connections`, each with one request at a time."""
    wrk = ["wrk", "--latency", "-t1", f"-c{connections}", f"-d{seconds:.0f}s", "--timeout=10s"]
    if script:
        wrk += ["-s", str(script)]
    said = subprocess.run([*wrk, url], check=True, capture_output=True, text=True).stdout
    requests, took, unit = re.findall(r"(\d+) requests in ([\d.]+)(s|m)", said)[0]
    took = float(took) * (60 if unit == "m" else 1)
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
    errors = re.search(r"connect (\d+), read (\d+), write (\d+), timeout (\d+)", said)
    return Load(
        int(requests) / took,
        int(refused[1]) / took if refused else 0.0,
        sum(map(int, errors.groups())) if errors else 0,
        _milliseconds(said, "50"),
        _milliseconds(said, "99"),
    )


def _milliseconds(said: str, share: str) -> float:
    number, unit = re.findall(rf"{share}%\s+([\d.]+)(us|ms|s)", said)[0]
    return float(number) * {"us": 0.001, "ms": 1.0, "s": 1000.0}[unit]
