"""Tests an export's own tests with mutants: `python benchmarks/export_mutants.py --seeds 1 2 3`.

This exports golden `minimal`, or another one, into a temporary folder, breaks its `retrieval/`,
`index/`, `web/` and `chat/` in one place at a time, and runs the export's tests. Only tests that
call the broken function or start a process are run, the quickest first, because no others can
notice. `--golden stages --configuration rights.toml` exports the documents of golden `stages` with
the configuration in rights.toml.

For each seed, the output has a line about the sample, and each fault that no test noticed, as a
diff. `equivalent` faults have no observable effect in this export. mutants.toml lists them with the
reason; they are drawn like all others, but neither tried nor counted.
"""

import argparse
import difflib
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from common import build
from mutants import DATA, MIN_SECONDS, PASSED, TIMES_AS_LONG, import_all, run_tests
from mutations import Mutant, find_mutants

from foundry import pipeline

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
ROOMS = ("retrieval", "index", "web", "chat")


@dataclass(frozen=True, slots=True)
class Fault:
    """A change of one file of an export, which is a copy of a module of Foundry."""

    file: Path
    module: str
    mutant: Mutant


@dataclass(frozen=True, slots=True)
class Reach:
    """Which tests call which function of a file, the quickest first."""

    calling: dict[str, list[str]]
    starting_processes: list[str]

    def tests_for(self, fault: Fault) -> list[str]:
        """Return the tests that may notice a fault: all of them for code that runs on import."""
        calling = self.calling.get(f"{fault.file} {fault.mutant.function or '<module>'}", [])
        return [*dict.fromkeys([*calling, *self.starting_processes])]


def main() -> int:
    """Run the faults, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=60, help="faults of a seed; 0: all")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=ROOMS)
    parser.add_argument("--golden", default="minimal", metavar="NAME")
    parser.add_argument("--configuration", type=Path, metavar="FILE", help="its foundry.toml")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        export = export_golden(Path(work).resolve(), options.golden, options.configuration)
        faults = [*find_faults(next(export.glob("*/app.py")).parent, options.rooms)]
        unseen = read_unseen(DATA)
        reach, limit = run_intact(export)
        lines = ["seed  planted  equivalent  noticed  share"]
        for seed in options.seeds:
            drawn = draw(faults, options.count, seed)
            tried = [fault for fault in drawn if not is_unseen(fault, unseen)]
            survivors = 0
            for fault in try_all(export, tried, reach, limit):
                survivors += 1
                print(show(fault, export), flush=True)
            noticed, share = len(tried) - survivors, 1 - survivors / max(len(tried), 1)
            counts = f"{len(drawn):>8} {len(drawn) - len(tried):>11} {noticed:>8}"
            lines.append(f"{seed:>4} {counts} {share:>6.0%}")
            print("\n".join(lines), flush=True)
    return 0


def export_golden(work: Path, golden: str, configuration: Path | None) -> Path:
    """Export a golden server, with another configuration if one is given; returns its folder."""
    project = work / "project"
    shutil.copytree(GOLDEN / golden, project, ignore=shutil.ignore_patterns("expected"))
    if configuration is not None:
        shutil.copyfile(configuration, project / "foundry.toml")
    build(project)
    return pipeline.export(project, work / "export", print, force=False, trust=False)


def find_faults(package: Path, rooms: Sequence[str]) -> Iterator[Fault]:
    """Yield all possible faults in rooms of a package, in the order of the files."""
    for room in rooms:
        for file in sorted((package / room).rglob("*.py")):
            for mutant in find_mutants(file.read_text(encoding="utf-8")):
                module = file.relative_to(package).with_suffix("").as_posix()
                yield Fault(file, f"runtime.{module.replace('/', '.')}", mutant)


def draw(faults: Sequence[Fault], count: int, seed: int) -> list[Fault]:
    """Draw this many faults, in the order of the files."""
    if not 0 < count < len(faults):
        return [*faults]
    chosen = random.Random(seed).sample(range(len(faults)), count)
    return [faults[number] for number in sorted(chosen)]


def read_unseen(file: Path) -> list[dict[str, Any]]:
    """Read the faults that have no observable effect, in any export or in this one."""
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    return [*data["equivalent"], *data["of_an_export"]]


def is_unseen(fault: Fault, unseen: Sequence[dict[str, Any]]) -> bool:
    """Return whether a fault is one of those listed."""
    change = f"{fault.mutant.before} -> {fault.mutant.after}"
    return any(
        (entry["module"], entry["function"]) == (fault.module, fault.mutant.function)
        and change in entry["changes"]
        for entry in unseen
    )


class Recorder:
    """A pytest plugin that records which tests call which function of a package."""

    def __init__(self, package: Path, file: Path) -> None:
        self._package, self._file = f"{package}{os.sep}", file
        self._calls: defaultdict[CodeType, set[str]] = defaultdict(set)
        self._seconds: dict[str, float] = {}
        self._starting_processes: set[str] = set()
        self._test = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self) -> None:
        """Trace calls in every thread, before the package is imported."""
        sys.addaudithook(self._hear)
        threading.settrace(self._note)
        sys.settrace(self._note)

    def _note(self, frame: FrameType, _event: str, _argument: object) -> None:
        if frame.f_code.co_filename.startswith(self._package):
            self._calls[frame.f_code].add(self._test)

    def _hear(self, event: str, _arguments: object) -> None:
        if event == "subprocess.Popen":
            self._starting_processes.add(self._test)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Assign calls to the test, including those of its fixtures."""
        self._test, begun = item.nodeid, time.monotonic()
        try:
            return (yield)
        finally:
            self._seconds[item.nodeid] = time.monotonic() - begun
            self._test = ""

    def pytest_sessionfinish(self) -> None:
        """Write the file that `Reach` reads."""
        sys.settrace(None)
        quickest = sorted(self._seconds, key=self._seconds.__getitem__)
        of_function: defaultdict[str, set[str]] = defaultdict(set)
        for code, tests in self._calls.items():
            function = code.co_qualname.replace(".<locals>", "")
            of_function[f"{code.co_filename} {function}"] |= tests
        calling = {
            # The test name "" stands for imports: code that runs on import is exercised by every
            # test.
            function: [test for test in quickest if "" in tests or test in tests]
            for function, tests in of_function.items()
        }
        starting = [test for test in quickest if test in self._starting_processes]
        self._file.write_text(json.dumps({"calling": calling, "starting_processes": starting}))


class Chooser:
    """A pytest plugin that runs only the tests with the given names, in their order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._places = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Select and sort the tests."""
        items[:] = [item for item in items if item.nodeid in self._places]
        items.sort(key=lambda item: self._places[item.nodeid])


def run_intact(export: Path) -> tuple[Reach, float]:
    """Run the tests without a fault; returns what they reach, and the time limit with a fault.

    Exits with a message if they fail.
    """
    loaded, reached = export.parent / "loaded", export.parent / "reached.json"
    begun = time.monotonic()
    recorder = Recorder(next(export.glob("*/app.py")).parent, reached)
    if run_tests(export, ["tests"], None, loaded, recorder) != PASSED:
        sys.exit(f"{export}: its tests fail as it is")
    limit = MIN_SECONDS + TIMES_AS_LONG * (time.monotonic() - begun)
    import_all(loaded)
    return Reach(**json.loads(reached.read_text())), limit


def try_all(export: Path, faults: Sequence[Fault], reach: Reach, limit: float) -> Iterator[Fault]:
    """Yield the faults that no test notices within `limit` seconds."""
    # Otherwise Python might load the compiled file of a previous fault.
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    for fault in faults:
        for compiled in [*fault.file.parent.glob(f"__pycache__/{fault.file.stem}.*")]:
            compiled.unlink()
        tests = reach.tests_for(fault)
        files = sorted({test.partition("::")[0] for test in tests})
        intact = fault.file.read_bytes()
        fault.file.write_text(fault.mutant.source, encoding="utf-8")
        passed = run_tests(export, files, limit, plugin=Chooser(tests)) == PASSED
        fault.file.write_bytes(intact)
        if passed:
            yield fault


def show(fault: Fault, export: Path) -> str:
    """Return a fault as named in mutants.toml, and as a diff."""
    file = fault.file.relative_to(export)
    intact = fault.file.read_text(encoding="utf-8").splitlines()
    lines = difflib.unified_diff(
        intact, fault.mutant.source.splitlines(), f"a/{file}", f"b/{file}", lineterm="", n=1
    )
    name = f"{fault.mutant.function}: {fault.mutant.before} -> {fault.mutant.after}"
    return "\n".join([name, *lines, ""])


if __name__ == "__main__":
    sys.exit(main())
