"""Measures a query from the shell: `python benchmarks/shell.py PROJECT QUERY`.

`foundry query` is compared with the `search` of the project's export, and with the start of
sqlite-utils (`pip install sqlite-utils`). The project is built and exported first. Figures are
milliseconds of processor time, the smallest of the runs, which alternate.
"""

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from common import machine, row

RUNS = 7


def main() -> int:
    """Print a row for each command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("project", type=Path)
    parser.add_argument("query")
    parser.add_argument("--runs", type=int, default=RUNS)
    chosen = parser.parse_args()
    project = str(chosen.project.resolve())
    foundry = [sys.executable, "-m", "foundry"]
    with tempfile.TemporaryDirectory() as work:
        export = Path(work) / "export"
        _run([*foundry, "build", project], work)
        _run([*foundry, "export", project, "--output", str(export)], work)
        (package,) = (each.parent.name for each in export.glob("*/__main__.py"))
        commands = {
            "foundry query": [*foundry, "query", project, chosen.query],
            "search of the export": [sys.executable, "-m", package, "search", chosen.query],
        }
        if program := shutil.which("sqlite-utils", path=Path(sys.executable).parent):
            commands["sqlite-utils --version"] = [program, "--version"]
        least = dict.fromkeys(commands, float("inf"))
        for _ in range(chosen.runs):
            for name, command in commands.items():
                least[name] = min(least[name], _run(command, str(export)))
    print(machine(), end="\n\n")
    row("command", "processor ms", "to foundry query")
    row("---", "---", "---")
    for name, seconds in least.items():
        row(name, f"{1000 * seconds:.0f}", f"{seconds / least['foundry query']:.2f}")
    return 0


def _run(command: list[str], folder: str) -> float:
    """Run a command and return its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
