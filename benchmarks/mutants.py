"""Do the tests notice faults? `python benchmarks/mutants.py [--modules NAME ...]`.

This breaks modules of Foundry in one place at a time, in a copy of the tree, and runs the quick
tests that mutants.toml assigns to each module. A mutant is killed if a test fails or takes too
long. The output has the share of killed mutants for each module, and every survivor. mutants.toml
also lists mutants without an observable effect, with the reason; they are not tried.

No existing tool fits. mutmut 3 only changes the bodies of functions, although limits are constants
of modules, and it adds switches to sources that our exports copy byte for byte. cosmic-ray changes
files in place, and starts an interpreter for each test run. Neither draws a sample by a seed, and
neither keeps a list of equivalent mutants that survives edits above them. Imports are the slow part
here, so one process imports what tests need from other packages, and forks for each mutant.
"""

import argparse
import contextlib
import importlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutations import Mutant, find_mutants

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(__file__).with_suffix(".toml")
MIN_SECONDS = 15.0
TIMES_AS_LONG = 4.0
"""The time limit of a mutant's tests: this factor of their time without it, plus MIN_SECONDS."""

PYTEST = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow"]
PYTEST += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
UNSHRUNK = ["--hypothesis-profile", "unshrunk"]
"""Shrinking the failing example of a property would take long."""

PASSED, TIMED_OUT = 0, -1


@dataclass(frozen=True, slots=True)
class Module:
    """A module to break, the test files that exercise it, and its equivalent mutants."""

    name: str
    tests: tuple[str, ...]
    equivalents: frozenset[tuple[str, str, str]]

    @property
    def file(self) -> str:
        """The module's path in the tree."""
        return f"foundry/{self.name.replace('.', '/')}.py"


def main() -> int:
    """Run the mutants, print the results, and return 1 if a mutant survived."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--modules", nargs="+", metavar="NAME", help="such as runtime.filters")
    parser.add_argument("--count", type=int, default=25, help="mutants of a module; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    modules = read_modules(DATA, options.modules)
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        copy_tree(tree)
        for module in modules:
            mutants = list(draw(module, options.count, options.seed))
            survived = list(try_all(tree, module, mutants))
            survivors += len(survived)
            killed = len(mutants) - len(survived)
            share = killed / max(len(mutants), 1)
            print(f"{module.name}: {share:.0%} killed, {killed} of {len(mutants)}", flush=True)
            for mutant in survived:
                place = f"{module.file}:{mutant.line} {mutant.function}"
                print(f"  {place}: {mutant.before} -> {mutant.after}", flush=True)
    return 1 if survivors else 0


def read_modules(file: Path, wanted: Sequence[str] | None) -> list[Module]:
    """Read the modules to break. Exits with a message for a module that is not listed."""
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    unknown = set(wanted or ()) - set(data["tests"])
    if unknown:
        sys.exit(f"{file.name} maps no tests to {', '.join(sorted(unknown))}")
    equivalents: dict[str, set[tuple[str, str, str]]] = {}
    for entry in data.get("equivalent", ()):
        for change in entry["changes"]:
            before, arrow, after = change.partition(" -> ")
            if not arrow or not entry["reason"]:
                sys.exit(f"{file.name}: {change!r} must be written before -> after, with a reason")
            mutant = (entry["function"], before, after)
            equivalents.setdefault(entry["module"], set()).add(mutant)
    return [
        Module(name, tuple(tests), frozenset(equivalents.get(name, ())))
        for name, tests in data["tests"].items()
        if not wanted or name in wanted
    ]


def draw(module: Module, count: int, seed: int) -> Iterator[Mutant]:
    """Return a sample of the mutants that are not equivalent, in the order of the module.

    Exits with a message if a mutant listed as equivalent does not exist.
    """
    mutants = find_mutants((ROOT / module.file).read_text(encoding="utf-8"))
    known = {(mutant.function, mutant.before, mutant.after) for mutant in mutants}
    for function, before, after in sorted(module.equivalents - known):
        sys.exit(f"{DATA.name}: {module.name} has no mutant {function}: {before} -> {after}")
    real = [m for m in mutants if (m.function, m.before, m.after) not in module.equivalents]
    chosen = set(range(len(real)))
    if 0 < count < len(real):
        chosen = set(random.Random(f"{seed} {module.name}").sample(range(len(real)), count))
    return (mutant for number, mutant in enumerate(real) if number in chosen)


def copy_tree(target: Path) -> None:
    """Copy the files of the repository, including uncommitted changes."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target / name)


def try_all(tree: Path, module: Module, mutants: Sequence[Mutant]) -> Iterator[Mutant]:
    """Yield the survivors. Exits with a message if the tests fail without a mutant."""
    file = tree / module.file
    intact = file.read_bytes()
    loaded = tree.parent / "loaded"
    begun = time.monotonic()
    # Only the tests in tests/ use Hypothesis, so only they need its profile.
    has_properties = any(name.startswith("tests/") for name in module.tests)
    tests = [*(UNSHRUNK if has_properties else ()), *module.tests]
    code = run_tests(tree, tests, None, loaded)
    if code != PASSED:
        sys.exit(f"{module.name}: its tests fail as it is: {' '.join(module.tests)}")
    limit = MIN_SECONDS + TIMES_AS_LONG * (time.monotonic() - begun)
    import_all(loaded)
    written = Counter[str]()
    try:
        for mutant in mutants:
            file.write_text(mutant.source, encoding="utf-8")
            _date(file, written)
            if run_tests(tree, tests, limit) == PASSED:
                yield mutant
    finally:
        file.write_bytes(intact)
        _date(file, written)


def import_all(loaded: Path) -> None:
    """Import the packages that `run_tests` has listed, so that forks do not have to."""
    for name in loaded.read_text().splitlines():
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def _date(file: Path, written: Counter[str]) -> None:
    # Python recognises a compiled file by the time (in seconds) and size of its source. Two mutants
    # may have the same size, so each gets its own time.
    written["times"] += 1
    moment = 1_000_000_000 + written["times"] + int(time.time()) % 1_000_000 * 1_000
    os.utime(file, (moment, moment))


def run_tests(
    tree: Path,
    tests: Sequence[str],
    seconds: float | None,
    loaded: Path | None = None,
    plugin: object | None = None,
) -> int:
    """Run tests of the tree in a separate process; `loaded` is a file for the list of its imports.

    Returns pytest's exit code, or TIMED_OUT after `seconds`. `plugin` is a pytest plugin.
    """
    child = os.fork()
    if not child:
        code = 3
        try:
            os.setsid()
            _enter(tree)
            import pytest

            code = int(pytest.main([*PYTEST, *tests], [plugin] if plugin else None))
            if loaded is not None:
                _list_packages(loaded)
        finally:
            os._exit(code)
    return _wait(child, seconds)


def _wait(child: int, seconds: float | None) -> int:
    until = time.monotonic() + seconds if seconds is not None else float("inf")
    try:
        while time.monotonic() < until:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        return TIMED_OUT
    finally:
        # The whole process group, because a mutant may keep processes running that the tests
        # started.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)


def _enter(tree: Path) -> None:
    os.chdir(tree)
    sys.path[0] = str(tree)
    os.environ["PYTHONPATH"] = str(tree)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nowhere, descriptor)


def _list_packages(file: Path) -> None:
    """Write the names of all loaded modules of other packages."""
    names = [
        name
        for name, module in list(sys.modules.items())
        if "site-packages" in (getattr(module, "__file__", None) or "")
    ]
    file.write_text("\n".join(names))


if __name__ == "__main__":
    sys.exit(main())
