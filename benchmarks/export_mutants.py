"""Do an export's own tests notice a fault? `python benchmarks/export_mutants.py --count 60`.

Exports golden `minimal` into a temporary folder, breaks its `retrieval/`, `index/`, `web/` and
`chat/` in one place at a time, drawn by `--seed`, and runs the tests that were shipped with it.
Prints the share that was noticed, and each fault that was not, as a diff. Faults that change
nothing that can be observed in this export are listed in mutants.toml with the reason; they are
drawn like all others, and neither tried nor counted.
"""

import argparse
import difflib
import os
import random
import shutil
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import build
from mutants import DATA, MIN_SECONDS, PASSED, TIMES_AS_LONG, run_tests
from mutations import Mutant, find_mutants

from foundry import pipeline

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "minimal"
ROOMS = ("retrieval", "index", "web", "chat")
FIRST = {
    "retrieval": "tests/test_search.py",
    "index": "tests/test_index.py",
    "web": "tests/test_app.py",
    "chat": "tests/test_chat.py",
}
"""The tests that are likely to notice a fault of a room, which are run before the others."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A change of one file of an export; `file` is its path below the package."""

    file: Path
    room: str
    mutant: Mutant


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=60, help="faults; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=ROOMS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        export = export_golden(Path(work))
        faults = [*find_faults(next(export.glob("*/app.py")).parent, options.rooms)]
        drawn = range(len(faults))
        if 0 < options.count < len(faults):
            chosen = random.Random(options.seed).sample(drawn, options.count)
            faults = [faults[number] for number in sorted(chosen)]
        drawn_count, unseen = len(faults), read_unseen(DATA)
        faults = [fault for fault in faults if not is_unseen(fault, unseen)]
        survivors = 0
        for fault in try_all(export, faults):
            survivors += 1
            print(show(fault, export), flush=True)
    noticed = len(faults) - survivors
    print(f"{noticed / max(len(faults), 1):.0%} noticed, {noticed} of {len(faults)};", end=" ")
    print(f"{drawn_count - len(faults)} more that nobody can notice")
    return 0


def export_golden(work: Path) -> Path:
    """Export golden `minimal`; returns the folder of the export."""
    project = work / "project"
    shutil.copytree(GOLDEN, project, ignore=shutil.ignore_patterns("expected"))
    build(project)
    return pipeline.export(project, work / "export", force=False, trust=False)


def find_faults(package: Path, rooms: Sequence[str]) -> Iterator[Fault]:
    """Every fault that can be planted into rooms of a package, in the order of the files."""
    for room in rooms:
        for file in sorted((package / room).rglob("*.py")):
            for mutant in find_mutants(file.read_text(encoding="utf-8")):
                yield Fault(file, room, mutant)


def read_unseen(file: Path) -> list[dict[str, Any]]:
    """Read the faults that nothing observable tells from what is written, in any export or here."""
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    return [*data["equivalent"], *data["of_an_export"]]


def is_unseen(fault: Fault, unseen: Sequence[dict[str, Any]]) -> bool:
    """Return whether a fault is one of those listed."""
    module = f"runtime.{fault.room}.{fault.file.stem}"
    change = f"{fault.mutant.before} -> {fault.mutant.after}"
    return any(
        (entry["module"], entry["function"]) == (module, fault.mutant.function)
        and change in entry["changes"]
        for entry in unseen
    )


def try_all(export: Path, faults: Sequence[Fault]) -> Iterator[Fault]:
    """Yield the faults that no test notices. Exits with a message if tests fail without one."""
    loaded = export.parent / "loaded"
    begun = time.monotonic()
    if run_tests(export, ["tests"], None, loaded) != PASSED:
        sys.exit(f"{export}: its tests fail as it is")
    limit = MIN_SECONDS + TIMES_AS_LONG * (time.monotonic() - begun)
    # Or a compiled file of another fault might be taken for the one that is planted.
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    for fault in faults:
        for compiled in [*fault.file.parent.glob(f"__pycache__/{fault.file.stem}.*")]:
            compiled.unlink()
        intact = fault.file.read_bytes()
        fault.file.write_text(fault.mutant.source, encoding="utf-8")
        passed = run_tests(export, [FIRST[fault.room], "tests"], limit) == PASSED
        fault.file.write_bytes(intact)
        if passed:
            yield fault


def show(fault: Fault, export: Path) -> str:
    """The change that a fault is, as mutants.toml would name it and as a diff."""
    file = fault.file.relative_to(export)
    intact = fault.file.read_text(encoding="utf-8").splitlines()
    lines = difflib.unified_diff(
        intact, fault.mutant.source.splitlines(), f"a/{file}", f"b/{file}", lineterm="", n=1
    )
    name = f"{fault.mutant.function}: {fault.mutant.before} -> {fault.mutant.after}"
    return "\n".join([name, *lines, ""])


if __name__ == "__main__":
    sys.exit(main())
