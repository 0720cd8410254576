"""Do the published packages work by themselves? `python tools/check_packages.py`.

This builds the wheel and the source archive of the committed files, and installs each into a
separate environment, with the lowest and with the highest allowed versions. There it runs init,
build, query, export and verify on the documents of the handbook example. The exit code is 1 if a
step fails, or if the exports differ in a byte.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ROOT / "examples" / "handbook" / "sources"
UV = Path(sys.executable).with_name("uv")
EXTRAS = "server,office"
STEPS = (
    ("init", "handbook", "--source", "docs"),
    ("build", "handbook", "--quiet"),
    ("query", "handbook", "how often is the D40 seal replaced?"),
    ("export", "handbook"),
    ("verify", "handbook"),
)


def main() -> int:
    """Try each package with each resolution, and print a line for each; return 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", default=sys.executable, help="an interpreter, by its path")
    options = parser.parse_args()
    failures = 0
    expected: dict[str, bytes] | None = None
    with tempfile.TemporaryDirectory(prefix="foundry-") as scratch:
        folder = Path(scratch)
        for package in _build_packages(folder):
            for resolution in ("lowest-direct", "highest"):
                place = folder / f"{package.suffix.strip('.')}-{resolution}"
                place.mkdir()
                try:
                    exported = _do_main_job(place, package, resolution, options.python)
                except subprocess.CalledProcessError as error:
                    said = f"{' '.join(map(str, error.cmd))}\n{error.stdout}{error.stderr}"
                else:
                    expected = expected or exported
                    said = "" if exported == expected else "exports other bytes"
                failures += bool(said)
                print(f"{package.name}, {resolution}: {said or 'works'}", flush=True)
    return 1 if failures else 0


def _build_packages(folder: Path) -> list[Path]:
    """Build both from a clone, which contains only committed files."""
    _run(["git", "clone", "--quiet", ROOT, folder / "clone"], folder)
    _run(
        [UV, "build", "--quiet", "--no-config", "--out-dir", folder / "out", folder / "clone"],
        folder,
    )
    return sorted([*folder.glob("out/*.whl"), *folder.glob("out/*.tar.gz")])


def _do_main_job(place: Path, package: Path, resolution: str, python: str) -> dict[str, bytes]:
    """Run all commands in `place`; returns the files of the export by path."""
    environment = place / "environment"
    _run([UV, "venv", "--quiet", "--no-config", "--python", python, environment], place)
    install = (UV, "pip", "install", "--quiet", "--no-config", "--resolution", resolution)
    wanted = f"rag-foundry[{EXTRAS}] @ file://{package}"
    _run([*install, "--python", environment, wanted], place)
    shutil.copytree(DOCUMENTS, place / "docs")
    for step in STEPS:
        _run([environment / "bin" / "foundry", *step], place)
    exported = place / "handbook" / "dist" / "handbook"
    return {
        path.relative_to(exported).as_posix(): path.read_bytes()
        for path in sorted(exported.rglob("*"))
        if path.is_file()
    }


def _run(command: Sequence[str | Path], folder: Path) -> None:
    """Run a command in a folder, which is also its home."""
    subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env={**os.environ, "HOME": str(folder)},
        check=True,
        capture_output=True,
        text=True,
    )


if __name__ == "__main__":
    sys.exit(main())
