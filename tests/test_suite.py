"""Meta tests: formatter, linter and type checker cover every file, and no test is skipped.

Some tools leave out folders named `build`, `dist` or `venv` unless they are told otherwise.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from servers import check_format, run_tool
from systems import ROOT, needs_repository

TESTS = ROOT / "tests"
GOLDEN = ROOT / "golden" / "minimal" / "expected"
TYPED = ("foundry/", "benchmarks/", "tools/", "examples/")
LIST_TYPED = """
import json
from mypy.main import process_options
sources, _ = process_options([])
print(json.dumps([source.path for source in sources]))
"""


def tracked() -> list[str]:
    """Return the Python files of the repository; golden exports have tests of their own."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [name for name in listed.split("\0") if name and not name.startswith("golden/")]


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", *command], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout + done.stderr


def relative(paths: list[str], folder: Path) -> set[str]:
    return {(folder / path).resolve().relative_to(folder.resolve()).as_posix() for path in paths}


def formatted(folder: Path) -> set[str]:
    said = run(folder, "-m", "black", "--check", "--verbose", ".")
    return relative(re.findall(r"(?m)^(\S.*\.py) already well formatted", said), folder)


def linted(folder: Path) -> set[str]:
    said = run(folder, "-m", "ruff", "check", "--show-files", "--no-cache", ".")
    return {name for name in relative(said.splitlines(), folder) if name.endswith(".py")}


def typed(folder: Path) -> set[str]:
    return relative(json.loads(run(folder, "-c", LIST_TYPED)), folder)


def lay_out(folder: Path, names: list[str]) -> Path:
    """Write an empty file for each path, next to this repository's tool settings."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for name in ("pyproject.toml", ".gitignore"):
        shutil.copyfile(ROOT / name, folder / name)
    return folder


@needs_repository
def test_formatter_and_linter_see_every_file(tmp_path: Path) -> None:
    names = tracked()
    folder = lay_out(tmp_path, names)
    assert formatted(folder) == linted(folder) == set(names)


@needs_repository
def test_the_type_checker_sees_every_file_except_tests_and_exports(tmp_path: Path) -> None:
    expected = {name for name in tracked() if not name.startswith(("tests/", "templates/"))}
    assert all(name.startswith(TYPED) for name in expected)
    assert typed(lay_out(tmp_path, tracked())) == expected


def test_folders_that_tools_leave_out_are_noticed(tmp_path: Path) -> None:
    left_out = ("build", "dist", "venv", ".tox", ".venv", "buck-out")
    files = [f"foundry/{name}/module.py" for name in left_out]
    folder = lay_out(tmp_path, ["foundry/__init__.py", *files])
    assert not {*files} & formatted(folder) & linted(folder) & typed(folder)


def test_golden_exports_pass_their_own_formatter_and_linter() -> None:
    check_format(GOLDEN)
    run_tool(GOLDEN, "ruff", "check", "--no-cache", ".")


def test_tests_are_only_skipped_for_missing_system_features() -> None:
    skips = re.compile(r"pytest\.(skip|importorskip|xfail)\(|mark\.(skip|skipif|xfail)\b")
    found = {path.name for path in TESTS.rglob("*.py") if skips.search(path.read_text("utf-8"))}
    assert found == {"systems.py"}
