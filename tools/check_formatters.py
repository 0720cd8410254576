"""Do exports depend on the versions of black and ruff? `python tools/check_formatters.py`.

This installs Foundry into a separate environment, exports the golden projects there with several
versions of both, and compares every byte. The exit code is 1 if any differ. When a
bound in pyproject.toml changes, run it with the lowest and the highest allowed versions.
"""

import argparse
import itertools
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "golden"
PROJECTS = ("minimal", "parents", "rrf", "stages", "store")
"""Golden projects that need no model, since formatting does not depend on models."""

PACKAGE = f"{ROOT}[rerank]"
UV = Path(sys.executable).with_name("uv")


def main() -> int:
    """Compare, print a line for each pair of versions, and return 1 if a byte differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--black", nargs="+", default=["26.10.1", "26.1.0", "25.1.0"])
    parser.add_argument("--ruff", nargs="+", default=["0.17.5", "0.13.0", "0.11.13"])
    options = parser.parse_args()
    differing = 0
    with tempfile.TemporaryDirectory(prefix="foundry-") as scratch:
        folder = Path(scratch)
        environment = folder / "environment"
        _run([UV, "venv", "--quiet", environment])
        _install(environment, [PACKAGE])
        projects = list(_build(folder, environment))
        expected: dict[str, bytes] | None = None
        for black, ruff in _pairs(options.black, options.ruff):
            # Foundry is installed too, so that pip refuses the versions that its bounds exclude.
            _install(environment, [PACKAGE, f"black=={black}", f"ruff=={ruff}"])
            exported = _export(projects, environment)
            expected = expected or exported
            wrong = sorted(name for name in expected if exported.get(name) != expected[name])
            wrong += sorted(exported.keys() - expected.keys())
            differing += len(wrong)
            said = f"differ: {', '.join(wrong)}" if wrong else "the same bytes"
            print(f"black {black}, ruff {ruff}: {len(exported):,} files, {said}", flush=True)
    return 1 if differing else 0


def _pairs(black: Sequence[str], ruff: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each version at least once, combined with the first version of the other tool."""
    for pair in itertools.product(black, ruff):
        if pair[0] == black[0] or pair[1] == ruff[0]:
            yield pair


def _build(folder: Path, environment: Path) -> Iterator[Path]:
    for name in PROJECTS:
        project = folder / name
        shutil.copytree(
            GOLDEN / name, project, ignore=shutil.ignore_patterns("expected", ".foundry")
        )
        _run([environment / "bin" / "foundry", "build", project, "--quiet"])
        yield project


def _export(projects: Sequence[Path], environment: Path) -> dict[str, bytes]:
    contents = {}
    for project in projects:
        target = project.with_name(f"{project.name}-export")
        _run([environment / "bin" / "foundry", "export", project, "--output", target])
        for path in target.rglob("*"):
            if path.is_file():
                contents[str(path.relative_to(project.parent))] = path.read_bytes()
        shutil.rmtree(target)
    return contents


def _install(environment: Path, what: Sequence[str | Path]) -> None:
    _run([UV, "pip", "install", "--quiet", "--python", environment, *what])


def _run(command: Sequence[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
